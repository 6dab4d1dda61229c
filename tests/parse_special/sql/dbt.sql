{{ config(materialized='table', x="it's") }}
{# it's a comment #}
{% macro cents(col, scale=2) -%}
  ({{ col }} / 100)::numeric(16, {{ scale }})
{%- endmacro %}
CREATE TABLE {{ schema }}.orders (a int);
CREATE TABLE ${prefix}_users (a int);
select * from {{ ref('x') }} where a = '{{ b }}'
