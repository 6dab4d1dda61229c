CREATE TABLE a (x int);
CREATE TABLE b (x text DEFAULT 'oops);
CREATE TABLE c (x text DEFAULT 'fine');
-- f
CREATE FUNCTION f() RETURNS void AS $
begin end
$$ LANGUAGE plpgsql;

CREATE FUNCTION g() RETURNS void AS $$
begin end
$$ LANGUAGE plpgsql;
/* open
CREATE TABLE d (x int);
