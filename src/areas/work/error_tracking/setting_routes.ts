/** Whether a project takes errors from applications. */
import { Type } from 'typebox';
import { projectRole } from '../../../access/index.ts';
import { found, get, one, optional, patch, put, resource } from '../../../http/index.ts';
import { changeSettings, missingSettings, noTrackerText } from './actions.ts';
import { settingsOf } from './queries.ts';

const nothingElsewhere = Type.Null({ description: 'Always null: errors are kept by this server' });
const ErrorTrackingSettings = resource('ErrorTrackingSettings', {
  active: Type.Boolean(),
  project_name: nothingElsewhere,
  tracker_external_url: nothingElsewhere,
  sentry_external_url: nothingElsewhere,
  api_url: nothingElsewhere,
  integrated: Type.Boolean({ description: 'Whether this server keeps the errors' }),
});

const present = ({ active, integrated }: { active: boolean; integrated: boolean }) => ({
  active,
  project_name: null,
  tracker_external_url: null,
  sentry_external_url: null,
  api_url: null,
  integrated,
});

const path = '/projects/:id/error_tracking/settings';
const access = projectRole('maintainer');
const missingText = `404 ${missingSettings} Not Found`;
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
    input: { active: Type.Boolean(), integrated: Type.Boolean() },
    returns: one(ErrorTrackingSettings),
    refusals: { 400: reasons },
    handle: async ({ db, project, input }) => present(await changeSettings(db, project, input)),
  }),
  patch(path, {
    operation: 'updateErrorTrackingSettings',
    summary: 'Enable or disable error tracking in a project that has settings',
    access,
    input: { active: Type.Boolean(), integrated: optional(Type.Boolean()) },
    returns: one(ErrorTrackingSettings),
    refusals: { 400: reasons, 404: missingText },
    handle: async ({ db, project, input }) => {
      found(missingSettings, await settingsOf(db, project));
      return present(await changeSettings(db, project, input));
    },
  }),
];
