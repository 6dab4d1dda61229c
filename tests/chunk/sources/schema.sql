-- Boats that are moored here.
CREATE TABLE boats (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL
);

CREATE FUNCTION moored() RETURNS integer AS $$
    SELECT count(*) FROM boats;
$$ LANGUAGE sql;
