/** How freeze periods leave and arrive (docs/reference/relations_export.md#freeze_periods). */
import { columnOr, type RecordKind, type Relation, required, text, time } from '../../../relations/index.ts';
import { cronReasons, timeZoneReasons } from './rules.ts';

const freezePeriod: RecordKind = {
  table: 'freeze_periods',
  owner: { project: 'project_id' },
  title: 'freeze_start',
  members: {
    freeze_start: required('freeze_start', text(cronReasons)),
    freeze_end: required('freeze_end', text(cronReasons)),
    cron_timezone: columnOr('cron_timezone', text(timeZoneReasons), 'UTC'),
    created_at: required('created_at', time),
    updated_at: required('updated_at', time),
  },
  stays: {},
};

/** The freeze periods of a project. */
export const freezePeriods: Relation = { name: 'freeze_periods', kind: freezePeriod };
