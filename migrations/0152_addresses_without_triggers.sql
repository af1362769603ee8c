-- What follows from a new or confirmed address is written by the actions that change addresses.
drop trigger keep_primary_email on users;
drop function keep_primary_email();
drop trigger accept_invitations_of_address on emails;
drop function accept_invitations_of_address();
