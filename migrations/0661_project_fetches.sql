-- How often projects are cloned and fetched over HTTP, by day in UTC (docs/reference/repository.md#fetches).
create table project_fetches (
  project_id bigint not null references projects (id) on delete cascade,
  date       date not null,
  count      bigint not null,
  primary key (project_id, date)
);
create index project_fetches_by_date on project_fetches (date);
