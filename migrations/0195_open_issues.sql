-- The number of open issues of projects, without reading the issues. Equal keys are stored once, so 100,000 open issues of a project take some 600 KiB.
create index issues_open on issues (project_id, confidential) where state = 'opened';
