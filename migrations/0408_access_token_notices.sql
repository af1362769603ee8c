-- The days on which hooks were told of access tokens that expire soon: the next run goes on from there, and tells of each once.
create table access_token_notices (day date primary key);
