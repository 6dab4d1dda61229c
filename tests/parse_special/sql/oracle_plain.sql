create procedure p2 is
  v number;
begin
  v := 1;
end;
create table t3 (a int);
