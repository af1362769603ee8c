-- A role that an invitation names stays until the invitation is answered or changed, like that of a member.
alter table invitations
  drop constraint invitations_member_role_id_fkey,
  add constraint invitations_role_fkey foreign key (member_role_id) references member_roles;
