/** CI/CD variables: names and values for jobs, defined for a project, a group or the instance (docs/reference/variables.md). */
import { type Static, Type } from 'typebox';
import { admin, type Owner, ownerRole } from '../../../access/index.ts';
import {
  type Access,
  allOptional,
  type Caller,
  capitalized,
  checked,
  del,
  deleteFound,
  get,
  nothing,
  nullable,
  one,
  optional,
  pageOf,
  post,
  put,
  type Refusals,
  resource,
  type Services,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { addVariable, changeVariable, refusedTexts } from './actions.ts';
import { ambiguousText, type VariableRow, valuePurpose, variableOf, variablesOf } from './queries.ts';
import { descriptionReasons, keyReasons, scopeReasons, valueReasons } from './rules.ts';

const VariableType = Type.Enum(['env_var', 'file']);

const Variable = resource('Variable', {
  variable_type: VariableType,
  key: Type.String(),
  value: nullable(Type.String({ description: 'Null for hidden variables, and where it cannot be decrypted' })),
  hidden: optional(Type.Boolean({ description: 'Not for variables of the instance' })),
  protected: Type.Boolean({ description: 'Whether only jobs of protected branches and tags get it' }),
  masked: Type.Boolean({ description: 'Whether the value is masked in the output of jobs' }),
  raw: Type.Boolean({ description: 'Whether references to other variables in the value are not expanded' }),
  environment_scope: optional(Type.String({ description: 'Not for variables of the instance' })),
  description: nullable(Type.String()),
});

const present = ({ secrets }: Pick<Services, 'secrets'>, kind: Kind, row: VariableRow): Static<typeof Variable> => {
  const { id: _, environment_scope, hidden, value, variable_type, ...shown } = row;
  return {
    ...shown,
    variable_type: variable_type as Static<typeof VariableType>,
    value: hidden ? null : (secrets.unseal(valuePurpose, value) ?? null),
    ...(kind === 'instance' ? {} : { hidden, environment_scope }),
  };
};

type Kind = 'project' | 'group' | 'instance';
const permission = 'admin_cicd_variables';

const ofInstance: Access<{ caller: Caller; owner: Owner }> = {
  ...admin,
  check: async (call) => ({ ...(await admin.check(call)), owner: { project_id: null, group_id: null } }),
};

const Key = () => checked(Type.String({ description: 'Letters, digits and `_`, at most 255' }), keyReasons);
const Value = () => checked(Type.String({ description: 'At most 10,000 bytes' }), valueReasons);
const scope = { environment_scope: optional(checked(Type.String({ description: 'Default `*`' }), scopeReasons)) };
const filter = {
  filter: optional(
    Type.Object({
      environment_scope: optional(Type.String({ description: 'Selects the variable when several have the key' })),
    }),
  ),
};

const settings = allOptional({
  variable_type: VariableType,
  protected: Type.Boolean(),
  masked: Type.Boolean({
    description: 'Requires a value of one line and of at least 8 letters, digits or `_+=/@:.~-`',
  }),
  raw: Type.Boolean(),
  description: checked(nullable(Type.String({ description: 'At most 255 characters' })), descriptionReasons),
});

const missingText = '404 Variable Not Found';
const refused = { key: 'key: (<key>) has already been taken', value: 'value: is invalid' };

function routesOf(kind: Kind) {
  const base = kind === 'instance' ? '/admin/ci/variables' : `/${kind}s/:id/variables`;
  const Noun = capitalized(kind);
  const of = kind === 'instance' ? 'the instance' : `a ${kind}`;
  const access = kind === 'instance' ? ofInstance : ownerRole(kind, permission);
  // The instance has no environments. Omitted members are undefined, as in the types.
  const scoped = kind === 'instance' ? ({} as typeof scope) : scope;
  const filtered = kind === 'instance' ? ({} as typeof filter) : filter;
  const which = ({ key, filter: given }: { key: string; filter?: { environment_scope?: string } }) => ({
    key,
    scope: given?.environment_scope,
  });
  const missing: Refusals = kind === 'instance' ? { 404: missingText } : { 404: missingText, 409: ambiguousText };
  return [
    get(base, {
      operation: `list${Noun}Variables`,
      summary: `List the CI/CD variables of ${of}, by key`,
      access,
      input: paging,
      returns: pageOf(Variable),
      holds_secrets: true,
      handle: async ({ db, owner, input, ...services }) => {
        const page = await paginate(db, variablesOf(db, owner), input);
        return mapPage(page, (row) => present(services, kind, row));
      },
    }),
    get(`${base}/:key`, {
      operation: `get${Noun}Variable`,
      summary: `Show a CI/CD variable of ${of}`,
      access,
      input: { key: Type.String(), ...filtered },
      returns: one(Variable),
      holds_secrets: true,
      refusals: missing,
      handle: async ({ db, owner, input, ...services }) =>
        present(services, kind, await variableOf(db, owner, which(input))),
    }),
    post(base, {
      operation: `create${Noun}Variable`,
      summary: `Create a CI/CD variable of ${of}`,
      access,
      input: {
        key: Key(),
        value: Value(),
        ...settings,
        masked_and_hidden: optional(Type.Boolean({ description: 'Whether the value is masked and never shown again' })),
        ...scoped,
      },
      returns: one(Variable),
      refusals: { 400: [refused.key, refused.value, `base: ${refusedTexts.many}`] },
      handle: async ({ owner, input, ...services }) =>
        present(services, kind, await addVariable(services, owner, input)),
    }),
    put(`${base}/:key`, {
      operation: `update${Noun}Variable`,
      summary: `Update a CI/CD variable of ${of}`,
      access,
      input: { key: Type.String(), value: optional(Value()), ...settings, ...scoped, ...filtered },
      returns: one(Variable),
      refusals: { 400: [refused.key, refused.value, `base: ${refusedTexts.hidden}`], ...missing },
      handle: async ({ owner, input, ...services }) => {
        const { key: _key, filter: _filter, ...changes } = input;
        return present(services, kind, await changeVariable(services, owner, which(input), changes));
      },
    }),
    del(`${base}/:key`, {
      operation: `delete${Noun}Variable`,
      summary: `Delete a CI/CD variable of ${of}`,
      access,
      input: { key: Type.String(), ...filtered },
      returns: nothing,
      refusals: missing,
      handle: async ({ db, owner, input }) => {
        const { id } = await variableOf(db, owner, which(input));
        // Of two concurrent requests, only one deletes it.
        await deleteFound(db, 'variables', id, 'Variable');
      },
    }),
  ];
}

export const variableRoutes = [...routesOf('project'), ...routesOf('group'), ...routesOf('instance')];
