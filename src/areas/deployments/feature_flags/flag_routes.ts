/** Feature flags, and the configuration with which applications request them (docs/reference/feature_flags.md). */
import { type Static, Type } from 'typebox';
import {
  AnyJson,
  badRequest,
  del,
  get,
  Id,
  Iid,
  nullable,
  one,
  optional,
  pageOf,
  post,
  put,
  resource,
  Timestamp,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { flagsRole } from './access.ts';
import { addFlag, changeFlag, deleteFlag, refusedTexts } from './actions.ts';
import { clientFor, resetClient, type ShownClient } from './client_actions.ts';
import { type FlagRow, flagNamed, flagsOf } from './queries.ts';
import { maximums } from './rules.ts';

const version = 'new_version_flag';

export const FeatureFlag = resource('FeatureFlag', {
  iid: Iid,
  name: Type.String(),
  description: nullable(Type.String()),
  active: Type.Boolean(),
  version: Type.Literal(version),
  created_at: Timestamp,
  updated_at: Timestamp,
  scopes: Type.Array(Type.Object({}), { description: 'Always empty: scopes belong to strategies' }),
  strategies: Type.Array(
    Type.Object({
      id: Id,
      name: Type.String(),
      parameters: Type.Record(Type.String(), Type.String()),
      scopes: Type.Array(Type.Object({ id: Id, environment_scope: Type.String() })),
      user_list: nullable(Type.Object({ id: Id, iid: Iid, name: Type.String(), user_xids: Type.String() })),
    }),
  ),
});

const present = ({ id: _, ...flag }: FlagRow): Static<typeof FeatureFlag> => ({ ...flag, version, scopes: [] });

const Client = resource('FeatureFlagsClient', {
  unleash_url: Type.String({ description: 'The address that SDKs of Unleash are configured with' }),
  instance_id: nullable(
    Type.String({ description: 'What they identify themselves with; null when it cannot be decrypted' }),
  ),
  last_seen_at: nullable(Timestamp),
  sdk: nullable(Type.String({ description: 'The SDK that was last seen, to the hour' })),
});

const presentClient = (url: string, project: { id: number }, client: ShownClient): Static<typeof Client> => ({
  unleash_url: `${url}/api/v4/feature_flags/unleash/${project.id}`,
  ...client,
});

const Parameters = () => AnyJson('An object, or its JSON as a text');
const List = () => nullable(Type.Integer({ description: 'The id of a user list, for `gitlabUserList`' }));
const StrategyName = () =>
  Type.String({
    description: '`default`, `flexibleRollout`, `gradualRolloutUserId`, `userWithId` or `gitlabUserList`',
  });

const Scope = Type.Object({
  id: optional(Id),
  environment_scope: optional(
    Type.String({ description: 'The name of an environment; `*` stands for any characters' }),
  ),
  _destroy: optional(Type.Boolean()),
});
const scopes = optional(Type.Array(Scope, { maxItems: maximums.scopes }));

const settings = {
  description: optional(nullable(Type.String({ description: `At most ${maximums.description} characters` }))),
  active: optional(Type.Boolean({ description: 'Default true' })),
};

const Name = () =>
  Type.String({
    description: `Lowercase letters, digits, \`_\` and \`-\`, at most ${maximums.name}; unique in the project`,
  });

const developer = flagsRole('developer');
const maintainer = flagsRole('maintainer');

const path = '/projects/:id/feature_flags';
const which = { feature_flag_name: Type.String() };

const sentences = ['Name <reason>', 'Description <reason>', 'Strategies <reason>'];
const refused = [refusedTexts.taken, refusedTexts.tooLarge, ...sentences];
const versionText = 'Version is invalid';

export const featureFlagRoutes = [
  get(path, {
    operation: 'listFeatureFlags',
    summary: 'List the feature flags of a project, by name',
    access: developer,
    input: {
      ...paging,
      scope: optional(Type.Enum(['enabled', 'disabled'], { description: 'Only flags that are switched on, or off' })),
    },
    returns: pageOf(FeatureFlag),
    handle: async ({ db, project, input }) => {
      const flags = flagsOf(db, project.id).orderBy('name').orderBy('id');
      const { scope } = input;
      const wanted = scope === undefined ? flags : flags.where('active', '=', scope === 'enabled');
      return mapPage(await paginate(db, wanted, input), present);
    },
  }),
  post(path, {
    operation: 'createFeatureFlag',
    summary: 'Create a feature flag',
    description:
      'A strategy without scopes is for all environments. `scopes` beside `strategies` belong to an old version of flags and are ignored.',
    access: developer,
    input: {
      name: Name(),
      ...settings,
      version: optional(Type.String({ description: `\`${version}\`, the only one` })),
      strategies: optional(
        Type.Array(
          Type.Object({
            name: StrategyName(),
            parameters: Parameters(),
            user_list_id: optional(List()),
            scopes,
          }),
          { maxItems: maximums.strategies },
        ),
      ),
    },
    returns: one(FeatureFlag),
    refusals: { 400: [...refused, versionText, refusedTexts.tooManyFlags('<number>')] },
    handle: async ({ db, project, caller, input: { version: wanted = version, ...given } }) => {
      if (wanted !== version) throw badRequest(versionText);
      return present(await addFlag(db, { project, caller }, given));
    },
  }),
  get(`${path}/:feature_flag_name`, {
    operation: 'getFeatureFlag',
    summary: 'Show a feature flag',
    access: developer,
    input: which,
    returns: one(FeatureFlag),
    handle: async ({ db, project, input }) => present(await flagNamed(db, project.id, input.feature_flag_name)),
  }),
  put(`${path}/:feature_flag_name`, {
    operation: 'updateFeatureFlag',
    summary: 'Update a feature flag',
    description:
      'Strategies and scopes with an `id` are changed, or deleted with `_destroy`; those without are added, and those that are not named stay.',
    access: developer,
    input: {
      ...which,
      name: optional(Name()),
      ...settings,
      strategies: optional(
        Type.Array(
          Type.Object({
            id: optional(Id),
            name: optional(StrategyName()),
            parameters: optional(Parameters()),
            user_list_id: optional(List()),
            scopes,
            _destroy: optional(Type.Boolean()),
          }),
          // The strategies to replace, and their replacements.
          { maxItems: 2 * maximums.strategies },
        ),
      ),
    },
    returns: one(FeatureFlag),
    refusals: { 400: refused, 404: '404 Not found' },
    handle: async ({ db, project, caller, input: { feature_flag_name, ...given } }) =>
      present(await changeFlag(db, { project, caller }, feature_flag_name, given)),
  }),
  del(`${path}/:feature_flag_name`, {
    operation: 'deleteFeatureFlag',
    summary: 'Delete a feature flag',
    access: developer,
    input: which,
    returns: { ...one(FeatureFlag), status: 200 },
    handle: async ({ db, project, caller, input }) =>
      present(await deleteFlag(db, { project, caller }, input.feature_flag_name)),
  }),
  get('/projects/:id/feature_flags_client', {
    operation: 'getFeatureFlagsClient',
    summary: 'Show what applications are configured with to get the feature flags of a project',
    description: 'The instance id is made when it is first asked for.',
    access: maintainer,
    returns: one(Client),
    holds_secrets: true,
    handle: async ({ project, url, ...services }) => presentClient(url, project, await clientFor(services, project.id)),
  }),
  post('/projects/:id/feature_flags_client/reset_token', {
    operation: 'resetFeatureFlagsClientToken',
    summary: 'Give a project another instance id',
    description: 'Applications with the old one get no flags any more.',
    access: maintainer,
    returns: one(Client),
    holds_secrets: true,
    handle: async ({ project, url, ...services }) =>
      presentClient(url, project, await resetClient(services, project.id)),
  }),
];
