/** Queries for clusters. */
import { sql } from 'kysely';
import { type Database, eachRow } from '../../../db/index.ts';
import type { Secrets } from '../../../secrets/index.ts';
import { projectIdentityJson } from '../../people/namespaces/index.ts';
import { type UserBasicRow, userBasicJson } from '../../people/users/index.ts';

/** The purpose that cluster tokens are sealed with. */
export const tokenPurpose = 'cluster token';

const provider = sql<'user' | 'gcp' | 'aws'>`clusters.provider_type`;
const authorization = sql<'rbac' | 'abac' | 'unknown_authorization'>`clusters.authorization_type`;

/** Clusters with the users who added them and their management projects, oldest first. */
export const clustersOf = (db: Database) =>
  db
    .selectFrom('clusters')
    .innerJoin('users', 'users.id', 'clusters.user_id')
    .leftJoin('projects', 'projects.id', 'clusters.management_project_id')
    .select([
      'clusters.id',
      'clusters.name',
      'clusters.enabled',
      'clusters.managed',
      'clusters.domain',
      'clusters.environment_scope',
    ])
    .select(['clusters.namespace_per_environment', 'clusters.api_url', 'clusters.ca_cert', 'clusters.namespace'])
    .select([
      'clusters.created_at',
      'clusters.updated_at',
      provider.as('provider_type'),
      authorization.as('authorization_type'),
    ])
    .select([sql<UserBasicRow>`${userBasicJson('users')}`.as('user'), projectIdentityJson.as('management_project')])
    .orderBy('clusters.id');

export type ClusterRow = Awaited<ReturnType<ReturnType<typeof clustersOf>['executeTakeFirstOrThrow']>>;

/** The clusters whose token cannot be decrypted, because it was sealed with another secret key or is damaged. */
export async function* brokenTokens(db: Database, secrets: Secrets): AsyncGenerator<{ id: number; name: string }> {
  const rows = eachRow((last) =>
    db.selectFrom('clusters').select(['id', 'name', 'token']).where('id', '>', last).orderBy('id'),
  );
  for await (const { id, name, token } of rows)
    if (secrets.unseal(tokenPurpose, token) === undefined) yield { id, name };
}
