CREATE OR REPLACE PACKAGE hr.emp_pkg AS
  PROCEDURE hire(p_id NUMBER);
  FUNCTION cnt RETURN NUMBER;
END emp_pkg;
/
CREATE OR REPLACE PACKAGE BODY hr.emp_pkg AS
  g NUMBER := 0;
  PROCEDURE hire(p_id NUMBER) IS
    v VARCHAR2(10) := q'[it's; x]';
  BEGIN
    FOR r IN (SELECT 1 FROM dual) LOOP NULL; END LOOP;
  END hire;
BEGIN
  g := 1;
END emp_pkg;
/
create or replace procedure p2 is
  v number;
begin
  v := case when 1=1 then 1 else 2 end;
end;
/
CREATE SEQUENCE s1 START WITH 1;
CREATE PUBLIC SYNONYM syn FOR hr.emp;
DECLARE x NUMBER; BEGIN NULL; END;
/
CREATE TYPE t_obj AS OBJECT (a NUMBER, MEMBER FUNCTION f RETURN NUMBER);
/
