/** Features: administrators switch them on for everyone, for some actors or for none. */
import { type Static, Type } from 'typebox';
import { admin } from '../../../access/index.ts';
import {
  badRequest,
  CommaList,
  del,
  get,
  leftOutIfBlank,
  mutuallyExclusive,
  nothing,
  nullable,
  one,
  optional,
  pageOf,
  post,
  resource,
} from '../../../http/index.ts';
import { mapPage, numberedPaging, pageOfArray, paginate, paging } from '../../../lists/index.ts';
import { DefinitionOfExperiment } from '../experiments/definition.ts';
import { definitions } from '../experiments/definitions/index.ts';
import {
  actorGroups,
  Gate,
  type GateRow,
  listOfGates,
  percentageKeys,
  readableGates,
  stateOf,
} from '../experiments/gate_rules.ts';
import { gatesOf } from '../experiments/queries.ts';
import { setFeature, settingFrom } from './actions.ts';
import { actorParameters, targetsOf } from './target_queries.ts';

const Feature = resource('Feature', {
  name: Type.String(),
  state: Type.Enum(['on', 'off', 'conditional']),
  gates: Type.Array(Gate),
  definition: nullable(DefinitionOfExperiment),
});

function present(name: string, rows: readonly GateRow[]): Static<typeof Feature> {
  const gates = readableGates(rows);
  const definition = definitions.find((each) => each.name === name) ?? null;
  return { name, state: stateOf(gates), gates: listOfGates(gates), definition };
}

const Names = (description: string) => leftOutIfBlank(optional(CommaList(Type.String({ description }))));
const targets = {
  feature_group: Names(`Groups of actors: ${Object.keys(actorGroups).join(', ')}`),
  user: Names('Usernames'),
  group: Names('Paths of groups'),
  namespace: Names('Paths of groups, and usernames for their namespaces'),
  project: Names('Paths of projects'),
  repository: Names('Paths of repositories, such as `orchard/apples.git`'),
};

export const featureRoutes = [
  get('/features', {
    operation: 'listFeatures',
    summary: 'List the feature flags that are set, by name',
    access: admin,
    input: paging,
    returns: pageOf(Feature),
    handle: async ({ db, input }) => {
      const page = await paginate(db, db.selectFrom('features').select('name').orderBy('name'), input);
      const gates = await gatesOf(
        db,
        page.items.map(({ name }) => name),
      );
      return mapPage(page, ({ name }) => present(name, gates.get(name) ?? []));
    },
  }),
  get('/features/definitions', {
    operation: 'listFeatureDefinitions',
    summary: 'List feature definitions, by name',
    access: admin,
    input: numberedPaging,
    returns: pageOf(DefinitionOfExperiment),
    handle: ({ input }) => pageOfArray(definitions, input),
  }),
  post('/features/:name', {
    operation: 'setFeature',
    summary: 'Set a feature flag for everyone, a percentage or named targets',
    access: admin,
    input: {
      name: Type.String({ minLength: 1, maxLength: 255 }),
      value: Type.String({
        description: '`true`, `false` or a percentage. Without targets, `true` and `false` replace all gates',
      }),
      key: leftOutIfBlank(
        optional(
          Type.Enum(percentageKeys, { description: '`percentage_of_time` (default) or `percentage_of_actors`' }),
        ),
      ),
      ...targets,
      force: Type.Boolean({ default: false, description: 'Ignored: features without a definition can always be set' }),
    },
    rules: ['feature_group', ...actorParameters].map((target) => mutuallyExclusive('key', target)),
    returns: one(Feature),
    refusals: {
      400: [
        '400 Bad request - <name> is not found!',
        '400 Bad request - Cannot set \'<name>\' to "<value>": true, false or a percentage is expected',
        '400 Bad request - Cannot set \'<name>\' to "<value>" for those who are named, only true or false',
        '400 Bad request - Cannot enable percentage of actors for a fully-enabled flag',
        '400 Bad request - Cannot enable percentage of time for a fully-enabled flag',
      ],
    },
    handle: async ({ db, input: { name, value, key, force: _force, ...names } }) => {
      const setting = settingFrom(name, value, key);
      const found = await targetsOf(db, names);
      const isForSome = Object.values(names).some((list) => list !== undefined);
      if (isForSome && typeof setting !== 'boolean')
        throw badRequest(
          `400 Bad request - Cannot set '${name}' to "${value}" for those who are named, only true or false`,
        );
      await setFeature(db, name, setting, found);
      return present(name, (await gatesOf(db, [name])).get(name) ?? []);
    },
  }),
  del('/features/:name', {
    operation: 'deleteFeature',
    summary: 'Delete a feature flag',
    access: admin,
    input: { name: Type.String() },
    returns: nothing,
    handle: async ({ db, input }) => {
      await db.deleteFrom('features').where('name', '=', input.name).execute();
    },
  }),
];
