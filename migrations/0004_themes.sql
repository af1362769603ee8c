set local lock_timeout = '5s';
alter table users drop constraint users_page_theme_check;
alter table users add constraint users_page_theme_check
  check (page_theme = any (array['auto', 'light', 'dark', 'dimmed', 'contrast'])) not valid;
alter table users validate constraint users_page_theme_check;
comment on column users.page_theme is 'The colours of pages: as the system, light, dark, dimmed, or with high contrast.';
