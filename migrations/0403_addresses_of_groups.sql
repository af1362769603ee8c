-- Mail about what is in a group may go to another address.
alter table notification_settings drop constraint notification_settings_email_is_global;
alter table notification_settings add constraint notification_settings_email_is_not_of_project check (email_id is null or project_id is null);
