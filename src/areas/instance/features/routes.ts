/** Features: what administrators switch on for all, for some or for nobody. */
import { type Static, Type } from 'typebox';
import { admin } from '../../../access/index.ts';
import {
  badRequest,
  CommaList,
  del,
  get,
  listOf,
  mutuallyExclusive,
  nothing,
  nullable,
  one,
  optional,
  post,
  resource,
} from '../../../http/index.ts';
import {
  actorGroups,
  DefinitionOfExperiment,
  definitions,
  Gate,
  type GateRow,
  gatesOf,
  listOfGates,
  percentageKeys,
  readableGates,
  stateOf,
} from '../experiments/index.ts';
import { checkDefined, setFeature, settingFrom } from './actions.ts';
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

const Names = (description: string) => optional(CommaList(Type.String({ description })));
const targets = {
  feature_group: Names(`Groups of actors: ${Object.keys(actorGroups).join(', ')}`),
  user: Names('Names of users'),
  group: Names('Paths of groups'),
  namespace: Names('Paths of groups, and names of users for their namespaces'),
  project: Names('Paths of projects'),
  repository: Names('Paths of repositories, such as `orchard/apples.git`'),
};

export const featureRoutes = [
  get('/features', {
    summary: 'List the features that somebody has decided on, by name',
    access: admin,
    returns: listOf(Feature),
    handle: async ({ db }) => [...(await gatesOf(db))].map(([name, rows]) => present(name, rows)),
  }),
  get('/features/definitions', {
    summary: 'List what the code says of its features, by name',
    access: admin,
    returns: listOf(DefinitionOfExperiment),
    handle: () => [...definitions],
  }),
  post('/features/:name', {
    summary: 'Set a feature for all, for a percentage, or for those who are named',
    access: admin,
    input: {
      name: Type.String({ minLength: 1, maxLength: 255 }),
      value: Type.String({ description: '`true`, `false` or a percentage; for all, `false` forgets everything that was set' }),
      key: optional(Type.Enum(percentageKeys, { description: 'Of what it is a percentage; of time by default' })),
      ...targets,
      force: Type.Boolean({ default: false, description: 'Whether a feature without a definition may be set' }),
    },
    rules: ['feature_group', ...actorParameters].map((target) => mutuallyExclusive('key', target)),
    returns: one(Feature),
    handle: async ({ db, input: { name, value, key, force, ...names } }) => {
      if (!force) checkDefined(name);
      const setting = settingFrom(name, value, key);
      const found = await targetsOf(db, names);
      const isForSome = Object.values(names).some((list) => list !== undefined);
      if (isForSome && typeof setting !== 'boolean')
        throw badRequest(`400 Bad request - Cannot set '${name}' to "${value}" for those who are named, only true or false`);
      await setFeature(db, name, setting, found);
      return present(name, (await gatesOf(db, [name])).get(name) ?? []);
    },
  }),
  del('/features/:name', {
    summary: 'Forget everything that was decided on a feature',
    access: admin,
    input: { name: Type.String() },
    returns: nothing,
    handle: async ({ db, input }) => {
      await db.deleteFrom('features').where('name', '=', input.name).execute();
    },
  }),
];
