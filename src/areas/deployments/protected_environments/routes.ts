/** Protected environments: who may deploy to an environment, and whose approvals a deployment needs (docs/reference/protected_environments.md). */
import { type Static, Type } from 'typebox';
import { groupRole, projectRole } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  type Access,
  type AnyEndpoint,
  allOptional,
  badParams,
  capitalized,
  checked,
  del,
  deprecated,
  found,
  get,
  Id,
  nothing,
  one,
  optional,
  pageOf,
  post,
  put,
  unprocessable,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { tooLong } from '../../../texts/index.ts';
import {
  changeEnvironmentProtection,
  protectEnvironment,
  type RuleChange,
  ruleTexts,
  unprotectEnvironment,
} from './actions.ts';
import { ProtectedEnvironment, type ProtectionOwner, presentProtection, protectionRows } from './present.ts';
import { tiers } from './rules.ts';

const plan = 'premium';

const grantee = allOptional({
  access_level: Type.Enum([30, 40, 60], { description: '30 Developers, 40 Maintainers, 60 administrators' }),
  user_id: Id,
  group_id: Id,
  group_inheritance_type: Type.Enum([0, 1], { description: '0: direct members of the group; 1: inherited ones, too' }),
});
const approvals = optional(
  Type.Integer({ minimum: 1, maximum: 5, description: 'How many approvals are needed; 1 by default' }),
);
const changing = {
  id: optional(Type.Integer({ description: 'ID of an existing rule; if omitted, a new one is created' })),
  _destroy: optional(Type.Boolean({ description: 'Delete the rule' })),
};
const Deploy = Type.Object(grantee);
const Approve = Type.Object({ ...grantee, required_approvals: approvals });
const DeployChange = Type.Object({ ...grantee, ...changing });
const ApproveChange = Type.Object({ ...grantee, required_approvals: approvals, ...changing });

const deprecatedText = "Parameter 'required_approval_count' is deprecated and shouldn't be used.";
const count = {
  required_approval_count: optional(deprecated('use `approval_rules`', Type.Integer({ minimum: 0 }))),
};

interface Given {
  deploy_access_levels?: Static<typeof DeployChange>[];
  approval_rules?: Static<typeof ApproveChange>[];
  required_approval_count?: number;
}

/** The parameters that contain rules. */
const purposes = { deploy_access_levels: 'deploy', approval_rules: 'approve' } as const;
type RuleList = keyof typeof purposes;

/** @throws ApiError 400 unless the rule names exactly one grantee */
function ruleFrom(list: RuleList, given: Static<typeof ApproveChange>, index: number): RuleChange {
  const { id, _destroy, access_level = null, user_id = null, group_id = null, ...others } = given;
  const named = [access_level, user_id, group_id].filter((value) => value !== null).length;
  const names = ['access_level', 'user_id', 'group_id'].map((name) => `${list}[${index}][${name}]`).join(', ');
  if (named > 1) throw badParams(`${names} are mutually exclusive`);
  if (named === 0 && id === undefined) throw badParams(`${names} are missing, exactly one parameter must be provided`);
  const ends = _destroy === true && id !== undefined;
  return { purpose: purposes[list], access_level, user_id, group_id, id, ends, ...others };
}

/** @throws ApiError 400 and 422 */
function rulesFrom({ required_approval_count, ...given }: Given): RuleChange[] {
  if (required_approval_count) throw unprocessable(deprecatedText);
  return (Object.keys(purposes) as RuleList[]).flatMap((list) =>
    (given[list] ?? []).map((rule, index) => ruleFrom(list, rule, index)),
  );
}

const project = projectRole('maintainer');
const group = groupRole('owner');
const owners = {
  project: {
    rule: project.rule,
    check: async (call) => ({ owner: { project_id: (await project.check(call)).project.id } }),
  },
  group: {
    rule: group.rule,
    check: async (call) => ({ owner: { group_id: (await group.check(call)).group.id } }),
  },
} satisfies Record<string, Access<{ owner: ProtectionOwner }>>;

const nameReasons = (name: string) => (name.trim() === '' ? ["can't be blank"] : tooLong(name, 255));
const newName = {
  project: checked(Type.String({ description: 'Name of the environment, which need not exist' }), nameReasons),
  group: Type.Unsafe<string>(Type.Enum(tiers, { description: 'Tier of the environments' })),
};

const invalidRules = [
  `Deploy access levels ${ruleTexts.user}`,
  `Deploy access levels ${ruleTexts.group}`,
  `Approval rules ${ruleTexts.user}`,
  `Approval rules ${ruleTexts.group}`,
  ruleTexts.none,
  ruleTexts.twice,
  deprecatedText,
];

const protectionNamed = async (db: Database, owner: ProtectionOwner, name: string) =>
  presentProtection(
    found(
      undefined,
      await protectionRows(db, owner).where('protected_environments.name', '=', name).executeTakeFirst(),
    ),
  );

function routesOf(kind: 'project' | 'group'): AnyEndpoint[] {
  const path = `/${kind}s/:id/protected_environments`;
  const Noun = kind === 'group' ? capitalized(kind) : '';
  const access: Access<{ owner: ProtectionOwner }> = owners[kind];
  const name = Type.String({ description: kind === 'group' ? 'The tier' : 'Name of the environment' });
  return [
    get(path, {
      operation: `list${Noun}ProtectedEnvironments`,
      summary: `List the protected environments of a ${kind}, by name`,
      access,
      plan,
      input: paging,
      returns: pageOf(ProtectedEnvironment),
      handle: async ({ db, owner, input }) => {
        const rows = protectionRows(db, owner)
          .orderBy('protected_environments.name')
          .orderBy('protected_environments.id');
        return mapPage(await paginate(db, rows, input), presentProtection);
      },
    }),
    get(`${path}/:name`, {
      operation: `get${Noun}ProtectedEnvironment`,
      summary: `Get a protected environment of a ${kind}`,
      access,
      plan,
      input: { name },
      returns: one(ProtectedEnvironment),
      handle: ({ db, owner, input }) => protectionNamed(db, owner, input.name),
    }),
    post(path, {
      operation: `create${Noun}ProtectedEnvironment`,
      summary: kind === 'group' ? 'Protect the environments of a tier in a group' : 'Protect an environment',
      access,
      plan,
      input: {
        name: newName[kind],
        deploy_access_levels: Type.Array(Deploy),
        approval_rules: optional(Type.Array(Approve)),
        ...count,
      },
      returns: one(ProtectedEnvironment),
      refusals: { 409: "409 Conflict: Environment '<name>' is already protected", 422: invalidRules },
      handle: async ({ db, owner, input }) => {
        const rules = rulesFrom(input);
        await db.transaction().execute((tx) => protectEnvironment(tx, owner, { name: input.name, rules }));
        return protectionNamed(db, owner, input.name);
      },
    }),
    put(`${path}/:name`, {
      operation: `update${Noun}ProtectedEnvironment`,
      summary: `Update a protected environment of a ${kind}`,
      access,
      plan,
      input: {
        name,
        deploy_access_levels: optional(Type.Array(DeployChange)),
        approval_rules: optional(Type.Array(ApproveChange)),
        ...count,
      },
      returns: one(ProtectedEnvironment),
      refusals: { 422: invalidRules },
      handle: async ({ db, owner, input }) => {
        const rules = rulesFrom(input);
        await db.transaction().execute((tx) => changeEnvironmentProtection(tx, owner, { name: input.name, rules }));
        return protectionNamed(db, owner, input.name);
      },
    }),
    del(`${path}/:name`, {
      operation: `delete${Noun}ProtectedEnvironment`,
      summary: `Unprotect an environment of a ${kind}`,
      access,
      plan,
      input: { name },
      returns: nothing,
      handle: ({ db, owner, input }) => db.transaction().execute((tx) => unprotectEnvironment(tx, owner, input.name)),
    }),
  ];
}

export const protectedEnvironmentRoutes = [...routesOf('project'), ...routesOf('group')];
