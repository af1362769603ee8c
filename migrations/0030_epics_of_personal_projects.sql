-- Issues of projects that came into a personal namespace are in no epic.
set local lock_timeout = '5s';
delete from epic_issues using issues, projects, namespaces
 where issues.id = epic_issues.issue_id and projects.id = issues.project_id and namespaces.id = projects.namespace_id and namespaces.kind = 'user';
