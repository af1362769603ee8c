-- An address is confirmed in many ways: by its link, by an administrator, with a new account. Whichever it is, who is invited by it becomes a member.
create function accept_invitations_of_address() returns trigger language plpgsql as $$
begin
  if exists (select from invitations where invite_email = new.email) then
    -- Later, in transactions of its own: a membership locks a whole tree of groups, which must not wait for whoever changes a user.
    perform graphile_worker.add_job('accept_invitations', payload => json_build_object('email_id', new.id), max_attempts => 6);
  end if;
  return null;
end $$;
create trigger accept_invitations_of_address after insert or update of email, confirmed_at on emails for each row
  when (new.confirmed_at is not null) execute function accept_invitations_of_address();
