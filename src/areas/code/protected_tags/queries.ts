/** Queries for the tag protections of a project. */
import { levels, type Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { isAbout } from '../../../foundation/wildcards.ts';

/** Whether a tag is protected, and whether the caller may create it. */
export interface TagProtection {
  is_protected: boolean;
  may_create: boolean;
}

export const protectedTagsOf = (db: Database, project_id: number) =>
  db.selectFrom('protected_tags').select(['id', 'name', 'create_access_level']).where('project_id', '=', project_id);

/**
 * The protection of each tag of a project, read once for all tags. If several protections match a tag, the most permissive wins.
 * @param project with the caller's level in it
 * @returns a function that maps the name of a tag to its protection
 */
export async function tagProtectionFor(
  db: Database,
  project: Pick<Project, 'id' | 'access_level'>,
): Promise<(tag: string) => TagProtection> {
  const rules = await protectedTagsOf(db, project.id).execute();
  const mayPush = project.access_level >= levels.developer;
  return (tag) => {
    const own = rules.filter(({ name }) => isAbout(name, tag));
    // Level 0 admits no one.
    const isAdmitted = own.some(
      ({ create_access_level: level }) => level >= levels.developer && project.access_level >= level,
    );
    return { is_protected: own.length > 0, may_create: mayPush && (own.length === 0 || isAdmitted) };
  };
}
