-- Avatars: the file name, which is part of the URL, and the blob.
alter table users add column avatar text, add column avatar_key text, add check ((avatar is null) = (avatar_key is null));
alter table namespaces add column avatar text, add column avatar_key text, add check ((avatar is null) = (avatar_key is null));
alter table projects add column avatar text, add column avatar_key text, add check ((avatar is null) = (avatar_key is null));
alter table topics add column avatar text, add column avatar_key text, add check ((avatar is null) = (avatar_key is null));

-- Whatever takes an avatar away: another one, its removal, or the end of what has it.
create function keep_unused_avatar() returns trigger language plpgsql as $$
begin
  insert into unused_blobs (key) values (old.avatar_key) on conflict do nothing;
  return null;
end $$;
create trigger keep_changed_avatar after update of avatar_key on users
  for each row when (old.avatar_key <> coalesce(new.avatar_key, '')) execute function keep_unused_avatar();
create trigger keep_changed_avatar after update of avatar_key on namespaces
  for each row when (old.avatar_key <> coalesce(new.avatar_key, '')) execute function keep_unused_avatar();
create trigger keep_changed_avatar after update of avatar_key on projects
  for each row when (old.avatar_key <> coalesce(new.avatar_key, '')) execute function keep_unused_avatar();
create trigger keep_changed_avatar after update of avatar_key on topics
  for each row when (old.avatar_key <> coalesce(new.avatar_key, '')) execute function keep_unused_avatar();
create trigger keep_deleted_avatar after delete on users
  for each row when (old.avatar_key is not null) execute function keep_unused_avatar();
create trigger keep_deleted_avatar after delete on namespaces
  for each row when (old.avatar_key is not null) execute function keep_unused_avatar();
create trigger keep_deleted_avatar after delete on projects
  for each row when (old.avatar_key is not null) execute function keep_unused_avatar();
create trigger keep_deleted_avatar after delete on topics
  for each row when (old.avatar_key is not null) execute function keep_unused_avatar();
