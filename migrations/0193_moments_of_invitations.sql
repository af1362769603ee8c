-- An invitation can end at a moment; a day means its beginning in UTC. The membership that it becomes ends on the first day that begins at this moment or later.
alter table invitations alter column expires_at type timestamptz using expires_at::timestamp at time zone 'UTC';
