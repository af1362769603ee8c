-- Limits that administrators have changed, by their names (docs/reference/plan_limits.md).
create table plan_limits (
  id     smallint primary key default 1 check (id = 1),
  limits jsonb not null default '{}'
);
insert into plan_limits default values;
