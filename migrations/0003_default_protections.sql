-- How new default branches of a group are protected, where it differs from the level in default_branch_protection.
set local lock_timeout = '5s';
alter table namespaces add column default_branch_protection_defaults jsonb;
