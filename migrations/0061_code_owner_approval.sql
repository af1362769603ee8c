-- Kept for clients that set it; it says something about merge requests only.
alter table protected_branches add code_owner_approval_required boolean not null default false;
