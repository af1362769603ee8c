-- Lists of the issues of many projects are walked in this order, as in that of issues_newest.
create index issues_latest on issues (updated_at, id);
