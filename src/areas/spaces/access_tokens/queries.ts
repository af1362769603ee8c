/** Queries and access rules of project and group access tokens. */
import { sql } from 'kysely';
import {
  type Changing,
  type Eligibility,
  groupRole,
  projectRole,
  type Subtree,
  withChange,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Access, ApiError, type Caller, found } from '../../../http/index.ts';
import { tokensIn } from '../../people/personal_access_tokens/index.ts';

/** A project or group with access tokens, and the caller's access level and permissions in it. */
export interface Resource extends Eligibility {
  kind: 'project' | 'group';
  id: number;
}

export interface Granted {
  caller: Caller;
  resource: Resource;
}

/**
 * Grants the project in `:id` to its maintainers, the group to its owners, and both to holders of the permission to manage their tokens.
 * @param refusal the error for other callers who can see it
 */
export const managersOf = (kind: Resource['kind'], refusal: () => ApiError): Access<Granted & Changing<Granted>> =>
  withChange(managersIn(kind, refusal), ({ resource }) => asSubtree(resource));

/** The columns that name the project or group. */
export const asSubtree = ({ kind, id }: Resource): Subtree =>
  kind === 'project' ? { project_id: id } : { group_id: id };

function managersIn(kind: Resource['kind'], refusal: () => ApiError): Access<Granted> {
  const project = projectRole('maintainer', { archived: true, permission: 'manage_project_access_tokens' });
  const group = groupRole('owner', { permission: 'manage_group_access_tokens' });
  const resourceOf = ({ id, access_level, permissions }: Eligibility & { id: number }) => ({
    kind,
    id,
    access_level,
    permissions,
  });
  const refuse = (error: unknown) => {
    throw error instanceof ApiError && error.status === 403 ? refusal() : error;
  };
  return kind === 'project'
    ? {
        ...project,
        check: async (call) => {
          const { caller, project: place } = await project.check(call).catch(refuse);
          return { caller, resource: resourceOf(place) };
        },
      }
    : {
        ...group,
        check: async (call) => {
          const { caller, group: place } = await group.check(call).catch(refuse);
          return { caller, resource: resourceOf(place) };
        },
      };
}

const columnOf = ({ kind }: Resource) => sql.ref(`${kind}_id`);

/** The tokens of a project or group, with the access levels of their bot users. */
export const tokensOf = (db: Database, resource: Resource) =>
  tokensIn(db)
    .select(
      sql<number | null>`(
        select access_level from members
         where members.user_id = personal_access_tokens.user_id and ${columnOf(resource)} = ${resource.id})`.as(
        'access_level',
      ),
    )
    .where(
      sql<boolean>`personal_access_tokens.user_id in (select user_id from access_token_bots where ${columnOf(resource)} = ${resource.id})`,
    );

/** @throws ApiError 404 */
export const tokenOf = async (db: Database, resource: Resource, token_id: number) =>
  found(`${resource.kind} Access Token`, await tokensOf(db, resource).where('id', '=', token_id).executeTakeFirst());
