-- Groups whose members follow the groups of directories and of other providers.
create table ldap_group_links (
  id bigint generated always as identity not null,
  group_id bigint not null,
  provider text not null,
  cn text,
  filter text,
  access_level integer not null,
  member_role_id bigint,
  created_by_id bigint,
  created_at timestamp with time zone default now() not null,
  constraint ldap_group_links_pkey primary key (id),
  constraint ldap_group_links_cn_key unique (group_id, provider, cn),
  constraint ldap_group_links_filter_key unique (group_id, provider, filter),
  constraint ldap_group_links_access_level_check check (access_level in (5, 10, 15, 20, 30, 40, 50)),
  constraint ldap_group_links_one_name check (num_nonnulls(cn, filter) = 1),
  constraint ldap_group_links_group_id_fkey foreign key (group_id) references namespaces(id) on delete cascade,
  constraint ldap_group_links_role_fkey foreign key (member_role_id, access_level) references member_roles(id, base_access_level),
  constraint ldap_group_links_created_by_id_fkey foreign key (created_by_id) references users(id) on delete set null
);
create index ldap_group_links_by_group on ldap_group_links using btree (group_id, id);
create index ldap_group_links_by_provider on ldap_group_links using btree (provider, lower(cn));
create index ldap_group_links_by_role on ldap_group_links using btree (member_role_id) where member_role_id is not null;
create index ldap_group_links_by_creator on ldap_group_links using btree (created_by_id) where created_by_id is not null;
comment on table ldap_group_links is 'Groups of directories whose people are members of a group here.';
comment on column ldap_group_links.provider is 'The name of the directory in the file of providers.';
comment on column ldap_group_links.cn is 'The cn of a group of the directory.';
comment on column ldap_group_links.filter is 'A filter that people of the directory pass.';
comment on column ldap_group_links.created_by_id is 'Whose decision the memberships are: those of others than administrators may have to wait for an approval.';

create table saml_group_links (
  id bigint generated always as identity not null,
  group_id bigint not null,
  provider text,
  name text not null,
  access_level integer not null,
  member_role_id bigint,
  created_by_id bigint,
  created_at timestamp with time zone default now() not null,
  constraint saml_group_links_pkey primary key (id),
  constraint saml_group_links_name_key unique nulls not distinct (group_id, name, provider),
  constraint saml_group_links_access_level_check check (access_level in (5, 10, 15, 20, 30, 40, 50)),
  constraint saml_group_links_group_id_fkey foreign key (group_id) references namespaces(id) on delete cascade,
  constraint saml_group_links_role_fkey foreign key (member_role_id, access_level) references member_roles(id, base_access_level),
  constraint saml_group_links_created_by_id_fkey foreign key (created_by_id) references users(id) on delete set null
);
create index saml_group_links_by_group on saml_group_links using btree (group_id, id);
create index saml_group_links_by_name on saml_group_links using btree (name);
create index saml_group_links_by_role on saml_group_links using btree (member_role_id) where member_role_id is not null;
create index saml_group_links_by_creator on saml_group_links using btree (created_by_id) where created_by_id is not null;
comment on table saml_group_links is 'Groups that SAML and OpenID Connect providers state, whose people are members of a group here.';
comment on column saml_group_links.provider is 'The name of the provider in the file; null: any of them.';
comment on column saml_group_links.created_by_id is 'As in ldap_group_links.';

-- Memberships that links give, beside memberships that were made by hand.
alter table members add column source text;
alter table members add constraint members_source_check check (source is null or (source in ('ldap', 'saml') and group_id is not null and expires_at is null));
comment on column members.source is 'The kind of links that give the membership; null: it was made by hand.';
create index members_by_source on members using btree (group_id, user_id) where source is not null;

create table members_by_hand (
  group_id bigint not null,
  user_id bigint not null,
  access_level integer not null,
  member_role_id bigint,
  expires_at date,
  created_by_id bigint,
  created_at timestamp with time zone not null,
  constraint members_by_hand_pkey primary key (group_id, user_id),
  constraint members_by_hand_member_fkey foreign key (group_id, user_id) references members(group_id, user_id) on delete cascade,
  constraint members_by_hand_role_fkey foreign key (member_role_id, access_level) references member_roles(id, base_access_level),
  constraint members_by_hand_created_by_id_fkey foreign key (created_by_id) references users(id) on delete set null
);
create index members_by_hand_by_role on members_by_hand using btree (member_role_id) where member_role_id is not null;
create index members_by_hand_by_creator on members_by_hand using btree (created_by_id) where created_by_id is not null;
create index members_by_hand_expiring on members_by_hand using btree (expires_at) where expires_at is not null;
comment on table members_by_hand is 'Memberships that were made by hand and lie beneath one that a link gives, which is higher.';

create table linked_members (
  id bigint generated always as identity not null,
  group_id bigint not null,
  user_id bigint not null,
  provider text not null,
  ldap_group_link_id bigint,
  saml_group_link_id bigint,
  constraint linked_members_pkey primary key (id),
  constraint linked_members_key unique nulls not distinct (group_id, user_id, provider, ldap_group_link_id, saml_group_link_id),
  constraint linked_members_one_link check (num_nonnulls(ldap_group_link_id, saml_group_link_id) = 1),
  -- A link that gives somebody a membership is written before the membership, and forgotten with it.
  constraint linked_members_member_fkey foreign key (group_id, user_id) references members(group_id, user_id) on delete cascade deferrable initially deferred,
  constraint linked_members_identity_fkey foreign key (user_id, provider) references user_identities(user_id, provider) on delete cascade,
  constraint linked_members_ldap_group_link_id_fkey foreign key (ldap_group_link_id) references ldap_group_links(id) on delete cascade,
  constraint linked_members_saml_group_link_id_fkey foreign key (saml_group_link_id) references saml_group_links(id) on delete cascade
);
create index linked_members_by_identity on linked_members using btree (user_id, provider);
create index linked_members_by_ldap_group_link on linked_members using btree (ldap_group_link_id) where ldap_group_link_id is not null;
create index linked_members_by_saml_group_link on linked_members using btree (saml_group_link_id) where saml_group_link_id is not null;
comment on table linked_members is 'Which links a provider has stated for a person when it answered last. The highest of them counts.';

alter table application_settings add column lock_memberships_to_ldap boolean default false not null;
alter table application_settings add column allow_group_owners_to_manage_ldap boolean default true not null;
comment on column application_settings.lock_memberships_to_ldap is 'Whether only administrators change memberships.';
comment on column application_settings.allow_group_owners_to_manage_ldap is 'Whether owners of groups link groups of directories, and not only administrators.';
