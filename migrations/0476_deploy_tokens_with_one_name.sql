-- Deploy tokens are found by their value: several can have the same username.
set local lock_timeout = '5s';
alter table deploy_tokens drop constraint deploy_tokens_username_key;
