-- What an epic inherits from milestones and children is worked out when it is read (work/epics/queries.ts).
drop trigger inherit_dates_of_added on epic_issues;
drop trigger inherit_dates_without_removed on epic_issues;
drop trigger inherit_dates_of_moved on epic_issues;
drop trigger inherit_dates_of_milestone on issues;
drop trigger inherit_dates_of_changed_milestone on milestones;
drop trigger inherit_dates_of_new_child on epics;
drop trigger inherit_dates_without_child on epics;
drop trigger inherit_dates_of_child on epics;
drop function keep_dates_by_epic_issues();
drop function keep_dates_by_moved_issue();
drop function keep_dates_by_issue();
drop function keep_dates_by_milestone();
drop function keep_dates_by_child();
drop function inherit_epic_dates(bigint[]);
alter table epics drop column inherited_start_date, drop column inherited_due_date;
