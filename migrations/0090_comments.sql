-- A thread outlives its first note, whoever removes that: the next one takes its place, so that the thread is still found.
create function hand_discussion_on() returns trigger language plpgsql as $$
begin
  update notes set starts_discussion = true
   where id = (select id from notes where discussion_id = old.discussion_id order by created_at, id limit 1);
  return null;
end $$;
create trigger hand_discussion_on after delete on notes for each row when (old.starts_discussion) execute function hand_discussion_on();

-- How many comments somebody may write in a minute; 0: as many as he likes.
alter table application_settings add column notes_create_limit integer not null default 0 check (notes_create_limit >= 0);
alter table application_settings drop column counts_requests;
alter table application_settings add column counts_requests boolean not null generated always as (
  throttle_unauthenticated_api_enabled or throttle_authenticated_api_enabled or throttle_unauthenticated_files_api_enabled
  or throttle_authenticated_files_api_enabled or users_get_by_id_limit > 0 or project_api_limit > 0 or projects_api_limit > 0
  or projects_api_rate_limit_unauthenticated > 0 or group_api_limit > 0 or groups_api_limit > 0 or notes_create_limit > 0
  or issues_create_limit > 0) stored;
