/** Complete changes of projects. */
import { sql } from 'kysely';
import { lockTree, refreshAuthorizations } from '../../access/index.ts';
import { type Database, isUniqueViolation } from '../../db/index.ts';
import { createRepository, deleteRepository } from '../../git/index.ts';
import { invalid, type Services } from '../../http/index.ts';
import { repositoryOf } from '../repository/index.ts';

export interface NewProject {
  name: string;
  path: string;
  namespace: { id: number; full_path: string };
  creator_id: number;
  default_branch: string;
  object_format?: 'sha1' | 'sha256';
  /** The other columns, as they are. */
  columns?: object;
}

const pathTaken = () => invalid({ path: ['has already been taken'] });

/**
 * Adds a project and its empty repository. The repository is made first: without a row it is only rubbish, while a row without it would be a broken project.
 * @returns the id of the project
 * @throws ApiError 400 when name or path are taken in the namespace (groups-projects-members.md section 4.2)
 */
export async function createProject(services: Services, project: NewProject): Promise<number> {
  const { db, storages } = services;
  const { rows } = await sql<{ id: number }>`select nextval(pg_get_serial_sequence('projects', 'id')) as id`.execute(db);
  const { id } = rows[0]!;
  const storage = Object.keys(storages)[0]!;
  const repository = repositoryOf(services, { id, storage });
  await createRepository(repository.path, { defaultBranch: project.default_branch, objectFormat: project.object_format ?? 'sha1' });
  try {
    await db.transaction().execute((tx) => insertProject(tx, { id, storage }, project));
  } catch (error) {
    await deleteRepository(repository);
    throw error;
  }
  return id;
}

async function insertProject(tx: Database, { id, storage }: { id: number; storage: string }, project: NewProject): Promise<void> {
  const { name, path, namespace, creator_id, default_branch, object_format = 'sha1', columns = {} } = project;
  const full_path = `${namespace.full_path}/${path}`;
  await lockTree(tx, namespace.id);
  const group = await tx.selectFrom('namespaces').select('id').where('full_path', '=', full_path).executeTakeFirst();
  if (group) throw pathTaken();
  const row = { name, path, full_path, namespace_id: namespace.id, creator_id, default_branch, storage, repository_object_format: object_format };
  try {
    await sql`
      insert into projects (id, ${sql.join(Object.keys({ ...columns, ...row }).map((column) => sql.ref(column)))}) overriding system value
      values (${id}, ${sql.join(Object.values({ ...columns, ...row }))})`.execute(tx);
  } catch (error) {
    if (isUniqueViolation(error, 'projects_full_path_key')) throw pathTaken();
    if (isUniqueViolation(error, 'projects_name_key')) throw invalid({ name: ['has already been taken'] });
    throw error;
  }
  await refreshAuthorizations(tx, { project_id: id });
}
