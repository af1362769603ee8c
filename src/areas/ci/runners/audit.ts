/** What audit events say of the projects of runners. The first one of a runner is where it is made. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

const runner = (column: string) => `(select ${column} from runners where id = it.runner_id)`;

export const runnerProjectAudit = auditedNoun({
  table: 'runner_projects',
  type: 'Ci::Runner',
  target: { id: 'it.runner_id', details: runner('description') },
  entity: { Project: 'it.project_id' },
  added: {
    of: `case when not it.is_owner then 'ci_runner_assigned' when ${runner('is_registered')} then 'ci_runner_registered' else 'ci_runner_created' end`,
    names: ['ci_runner_assigned', 'ci_runner_registered', 'ci_runner_created'],
  },
  removed: 'ci_runner_unassigned',
});
