/** Links and policies in replies (docs/reference/security_policies.md). */
import { type Static, Type } from 'typebox';
import { Id, nullable, resource } from '../../../http/index.ts';
import type { LinkRow } from './queries.ts';
import { policyPath } from './rules.ts';

export const PolicyLink = resource('SecurityPolicyProject', {
  project_id: Id,
  name_with_namespace: Type.String(),
  branch: Type.String({ description: 'Where the file is' }),
  inherited_from: nullable(Type.String({ description: 'The path of the group whose link it is' })),
});

const Ids = Type.Array(Id);
const Chosen = Type.Object({ including: Ids, excluding: Ids });

export const SecurityPolicy = resource('SecurityPolicy', {
  name: Type.String({ description: 'The path of the file, if it has never been good' }),
  description: nullable(Type.String()),
  type: nullable(Type.Enum(['approval_policy'])),
  enabled: Type.Boolean(),
  source: Type.Object({
    project_id: Id,
    full_path: Type.String(),
    inherited_from: nullable(Type.String({ description: 'The path of the group whose link it is' })),
  }),
  scope: nullable(
    Type.Object(
      { projects: Chosen, groups: Chosen, compliance_frameworks: Ids },
      { description: 'Empty: not limited' },
    ),
  ),
  errors: Type.Array(Type.String(), { description: 'Why the newest version of the file is not in force' }),
});

export const presentLink = ({
  project_id,
  name_with_namespace,
  branch,
  inherited_from,
}: LinkRow): Static<typeof PolicyLink> => ({ project_id, name_with_namespace, branch, inherited_from });

const listed = (ids: readonly number[] = []) => [...ids];

/** The policies of links, those of each policy project once, by the nearest link to it. */
export const presentLinked = (links: readonly LinkRow[]): Static<typeof SecurityPolicy>[] =>
  links
    .filter(({ project_id }, index) => links.findIndex((other) => other.project_id === project_id) === index)
    .flatMap(presentPolicies);

/** The policies of a link; if it has none, what is wrong with its file. */
function presentPolicies({ policies, errors, ...link }: LinkRow): Static<typeof SecurityPolicy>[] {
  const { project_id, full_path, inherited_from } = link;
  const source = { project_id, full_path, inherited_from };
  if (policies.length === 0 && errors.length > 0)
    return [{ name: policyPath, description: null, type: null, enabled: false, source, scope: null, errors }];
  return policies.map(({ name, description, enabled, scope: { projects, groups, compliance_frameworks } }) => ({
    name,
    description,
    type: 'approval_policy',
    enabled,
    source,
    scope: {
      projects: { including: listed(projects?.including), excluding: listed(projects?.excluding) },
      groups: { including: listed(groups?.including), excluding: listed(groups?.excluding) },
      compliance_frameworks: listed(compliance_frameworks),
    },
    errors,
  }));
}
