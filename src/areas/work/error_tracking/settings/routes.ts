/** Settings of error tracking in a project. */
import { Type } from 'typebox';
import { projectRole } from '../../../../access/index.ts';
import { forbidden, found, get, nullable, one, optional, patch, put, resource } from '../../../../http/index.ts';
import { changeSettings, missingSettings, noTrackerText, type Settings } from './actions.ts';
import { settingsOf } from './queries.ts';

const nothingElsewhere = Type.Null({ description: 'Always null: errors are kept by this server' });
const ErrorTrackingSettings = resource('ErrorTrackingSettings', {
  active: Type.Boolean(),
  project_name: nothingElsewhere,
  tracker_external_url: nothingElsewhere,
  sentry_external_url: nothingElsewhere,
  api_url: nothingElsewhere,
  integrated: Type.Boolean({ description: 'Whether this server keeps the errors' }),
  events_per_minute: nullable(Type.Integer({ description: 'Null: as many as the application settings say' })),
  alert_events: nullable(Type.Integer()),
  alert_users: nullable(Type.Integer()),
  alert_minutes: Type.Integer(),
});

const present = ({ active, integrated, ...others }: Settings) => ({
  active,
  project_name: null,
  tracker_external_url: null,
  sentry_external_url: null,
  api_url: null,
  integrated,
  ...others,
});

const path = '/projects/:id/error_tracking/settings';
const access = projectRole('maintainer');
const missingText = `404 ${missingSettings} Not Found`;
const limit = {
  events_per_minute: optional(
    nullable(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000,
        description: 'Only for administrators; 0: no limit, null: as many as the application settings say',
      }),
    ),
  ),
};
const threshold = (maximum: number, what: string) =>
  optional(
    nullable(
      Type.Integer({ minimum: 1, maximum, description: `Alert when an error reaches this many ${what}; null: never` }),
    ),
  );
const given = {
  ...limit,
  alert_events: threshold(10_000, 'events within `alert_minutes`'),
  alert_users: threshold(1000, 'users within `alert_minutes`'),
  alert_minutes: optional(Type.Integer({ minimum: 1, maximum: 1440, description: 'By default 60' })),
};
const limitText = '403 Forbidden - Only administrators can change events_per_minute';
const checkLimit = ({ admin }: { admin: boolean }, given: { events_per_minute?: number | null }): void => {
  if (!admin && given.events_per_minute !== undefined)
    throw forbidden('Only administrators can change events_per_minute');
};
const reasons = [`api_url: ${noTrackerText}`, `token: ${noTrackerText}`];

export const errorTrackingSettingRoutes = [
  get(path, {
    operation: 'getErrorTrackingSettings',
    summary: 'Show the error tracking settings of a project',
    access,
    returns: one(ErrorTrackingSettings),
    refusals: { 404: missingText },
    handle: async ({ db, project }) => present(found(missingSettings, await settingsOf(db, project))),
  }),
  put(path, {
    operation: 'setErrorTrackingSettings',
    summary: 'Set the error tracking settings of a project',
    description: 'A project that takes errors for the first time gets a client key.',
    access,
    input: { active: Type.Boolean(), integrated: Type.Boolean(), ...given },
    returns: one(ErrorTrackingSettings),
    refusals: { 400: reasons, 403: limitText },
    handle: async ({ db, project, caller, input }) => {
      checkLimit(caller, input);
      return present(await changeSettings(db, project, input));
    },
  }),
  patch(path, {
    operation: 'updateErrorTrackingSettings',
    summary: 'Enable or disable error tracking in a project that has settings',
    access,
    input: { active: Type.Boolean(), integrated: optional(Type.Boolean()), ...given },
    returns: one(ErrorTrackingSettings),
    refusals: { 400: reasons, 403: limitText, 404: missingText },
    handle: async ({ db, project, caller, input }) => {
      checkLimit(caller, input);
      found(missingSettings, await settingsOf(db, project));
      return present(await changeSettings(db, project, input));
    },
  }),
];
