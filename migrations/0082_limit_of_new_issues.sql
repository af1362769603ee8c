-- How many issues somebody may add in a minute; 0: as many as he likes. It is counted among the others where requests are (0090).
alter table application_settings add column issues_create_limit integer not null default 0 check (issues_create_limit >= 0);
