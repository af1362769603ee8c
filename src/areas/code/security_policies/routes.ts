/** Security policies: the project that has those of a project or group, and which of them are in force (docs/reference/security_policies.md). */
import { capitalized, del, get, IdOrName, listOf, nothing, nullable, one, put } from '../../../http/index.ts';
import { plan, policyLinker, policyReader, readableProject } from './access.ts';
import { elsewhereText, linkPolicies, unlinkPolicies } from './actions.ts';
import { PolicyLink, presentLink, presentLinked, SecurityPolicy } from './present.ts';
import { linksOf } from './queries.ts';

function routesOf(kind: 'project' | 'group') {
  const link = `/${kind}s/:id/security_policy_project` as const;
  const noun = capitalized(kind);
  return [
    get(link, {
      operation: `get${noun}SecurityPolicyProject`,
      summary: `Show the project with the security policies of a ${kind}`,
      description: 'The nearest link counts: its own, or that of the nearest group above. Null without any.',
      access: policyReader[kind],
      plan,
      returns: one(nullable(PolicyLink)),
      handle: async ({ db, owner }) => {
        const [row] = await linksOf(db, owner);
        return row ? presentLink(row) : null;
      },
    }),
    put(link, {
      operation: `update${noun}SecurityPolicyProject`,
      summary: `Link a ${kind} to the project with its security policies`,
      description: 'The caller must be able to read the code of that project. Its file is read a moment later.',
      access: policyLinker[kind],
      plan,
      input: { project_id: IdOrName('ID or full path of the project', { notBlank: true }) },
      returns: one(PolicyLink),
      refusals: { 400: elsewhereText, 404: '404 Project Not Found' },
      handle: ({ db, caller, owner, input }) =>
        db.transaction().execute(async (tx) => {
          await linkPolicies(tx, owner, await readableProject(tx, caller, input.project_id));
          const [row] = await linksOf(tx, owner);
          return presentLink(row!);
        }),
    }),
    del(link, {
      operation: `delete${noun}SecurityPolicyProject`,
      summary: `End the link of a ${kind} to the project with its security policies`,
      description: 'Links of groups above stay.',
      access: policyLinker[kind],
      plan,
      returns: nothing,
      handle: ({ db, owner }) => db.transaction().execute((tx) => unlinkPolicies(tx, owner)),
    }),
    get(`/${kind}s/:id/security_policies`, {
      operation: `list${noun}SecurityPolicies`,
      summary: `List the security policies that a ${kind} has, itself or through the groups above`,
      access: policyReader[kind],
      plan,
      returns: listOf(SecurityPolicy),
      handle: async ({ db, owner }) => presentLinked(await linksOf(db, owner)),
    }),
  ];
}

export const securityPolicyRoutes = [...routesOf('project'), ...routesOf('group')];
