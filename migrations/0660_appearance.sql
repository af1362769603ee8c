-- How the server looks: names, texts, colours and pictures (docs/reference/appearance.md).
create table appearance (
  id                              smallint primary key default 1 check (id = 1),
  title                           text not null default '',
  description                     text not null default '',
  pwa_name                        text not null default '',
  pwa_short_name                  text not null default '',
  pwa_description                 text not null default '',
  member_guidelines               text not null default '',
  new_project_guidelines          text not null default '',
  profile_image_guidelines        text not null default '',
  header_message                  text not null default '',
  footer_message                  text not null default '',
  message_background_color        text not null default '#E75E40',
  message_font_color              text not null default '#FFFFFF',
  email_header_and_footer_enabled boolean not null default false
);
insert into appearance default values;

create table appearance_pictures (
  kind     text primary key check (kind in ('logo', 'pwa_icon', 'header_logo', 'favicon')),
  name     text not null,
  blob_key text not null
);

create function keep_unused_picture() returns trigger language plpgsql as $$
begin
  insert into unused_blobs (key) values (old.blob_key) on conflict do nothing;
  return null;
end $$;
create trigger keep_changed_picture after update of blob_key on appearance_pictures
  for each row when (old.blob_key <> new.blob_key) execute function keep_unused_picture();
create trigger keep_deleted_picture after delete on appearance_pictures
  for each row execute function keep_unused_picture();

-- Pages keep what they show with the rights, so that they ask for nothing.
create trigger raise_rights_version after insert or update or delete on appearance for each statement execute function raise_rights_version();
create trigger raise_rights_version after insert or update or delete on appearance_pictures for each statement execute function raise_rights_version();
