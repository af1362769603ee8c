/** Enables and disables error tracking. */
import type { Project } from '../../../../access/index.ts';
import { type Database, stamped } from '../../../../db/index.ts';
import { found, invalid } from '../../../../http/index.ts';
import { addFirstKey, lockProject } from '../client_keys/actions.ts';
import { settingsOf } from './queries.ts';

export const noTrackerText = 'is a required field';
export const missingSettings = 'Error Tracking Setting';

interface Switches {
  active: boolean;
  integrated: boolean;
}

export interface Settings extends Switches {
  /** Null: the default of the application settings applies. */
  events_per_minute: number | null;
  /** An error causes an alert when it has this many events, or this many users, within this many minutes. Null: no alert. */
  alert_events: number | null;
  alert_users: number | null;
  alert_minutes: number;
}

const untilSet = { events_per_minute: null, alert_events: null, alert_users: null, alert_minutes: 60 };

const isReceiving = (settings: Switches | undefined) => settings?.active && settings.integrated;

/** Without the integrated tracker, errors cannot be sent to this server; an external tracker has no setting here. */
function checkTracker({ active, integrated }: Switches): void {
  if (active && !integrated) throw invalid({ api_url: [noTrackerText], token: [noTrackerText] });
}

/**
 * Sets whether a project accepts errors. The first time it does, it gets a client key.
 * @param changes omitted settings keep their values
 * @throws ApiError 404 for a partial change if the project has no settings yet; 400 for a tracker without a URL
 */
export const changeSettings = (db: Database, project: Project, changes: Partial<Settings>): Promise<Settings> =>
  db.transaction().execute(async (tx) => {
    await lockProject(tx, project);
    const before = await settingsOf(tx, project);
    const { active, integrated, ...others } = { ...untilSet, ...before, ...changes };
    const settings = found(
      missingSettings,
      active === undefined || integrated === undefined ? undefined : { active, integrated, ...others },
    );
    checkTracker(settings);
    const { id: project_id } = project;
    await (before === undefined
      ? tx.insertInto('error_tracking_settings').values({ ...settings, project_id })
      : tx.updateTable('error_tracking_settings').set(stamped(settings)).where('project_id', '=', project_id)
    ).execute();
    if (isReceiving(settings) && !isReceiving(before)) await addFirstKey(tx, project);
    return settings;
  });
