-- Reads the table without blocking writes.
alter table internal_ids validate constraint internal_ids_usage_check;
