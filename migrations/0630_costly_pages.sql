set local lock_timeout = '5s';

alter table application_settings add column costly_pages_need_sign_in boolean not null default false;
