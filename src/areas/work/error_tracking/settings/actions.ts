/** Turning error tracking on and off, and adding keys for clients. */
import type { Project } from '../../../../access/index.ts';
import { type Database, stamped } from '../../../../db/index.ts';
import { found, invalid } from '../../../../http/index.ts';
import { newPublicKey } from '../client_keys/rules.ts';
import { settingsOf } from './queries.ts';

/** The most client keys that a project can have. */
export const maximumKeys = 100;
export const tooManyKeysText = `Maximum number of client keys (${maximumKeys}) exceeded`;
export const noTrackerText = 'is a required field';
export const missingSettings = 'Error Tracking Setting';

interface Switches {
  active: boolean;
  integrated: boolean;
}

export interface Settings extends Switches {
  /** Null: as many as the application settings say. */
  events_per_minute: number | null;
  /** An error is alerted of that has so many events, or so many users, within so many minutes. Null: it is not. */
  alert_events: number | null;
  alert_users: number | null;
  alert_minutes: number;
}

const untilSet = { events_per_minute: null, alert_events: null, alert_users: null, alert_minutes: 60 };

const isReceiving = (settings: Switches | undefined) => settings?.active && settings.integrated;

/** Without the tracker of this server there is none to send errors to: that of another server has no setting here. */
function checkTracker({ active, integrated }: Switches): void {
  if (active && !integrated) throw invalid({ api_url: [noTrackerText], token: [noTrackerText] });
}

/** Locks the project, so that two changes of its settings or keys take turns. */
const lockProject = (tx: Database, { id }: Project) =>
  tx.selectFrom('projects').select('id').where('id', '=', id).forNoKeyUpdate().executeTakeFirst();

const keysOf = (db: Database, project: Project) =>
  db.selectFrom('error_tracking_client_keys').where('project_id', '=', project.id);

/**
 * Sets whether a project takes errors. When it does for the first time, it gets a client key.
 * @param changes what is left out keeps its value
 * @throws ApiError 404 if something is left out and the project has no settings; 400 for a tracker that has no address
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
    const hasKey = await keysOf(tx, project).select('id').limit(1).executeTakeFirst();
    if (isReceiving(settings) && !isReceiving(before) && hasKey === undefined) await insertKey(tx, project);
    return settings;
  });

const insertKey = (tx: Database, project: Project) =>
  tx
    .insertInto('error_tracking_client_keys')
    .values({ project_id: project.id, public_key: newPublicKey() })
    .returning(['id', 'active', 'public_key'])
    .executeTakeFirstOrThrow();

/**
 * Adds a client key to a project.
 * @throws ApiError 400 when it has as many as it can have
 */
export const addKey = (db: Database, project: Project) =>
  db.transaction().execute(async (tx) => {
    await lockProject(tx, project);
    const { count } = await keysOf(tx, project)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    if (count >= maximumKeys) throw invalid({ base: [tooManyKeysText] });
    return insertKey(tx, project);
  });
