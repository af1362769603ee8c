/** Reading what protects the tags of a project. */
import { levels, type Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { isAbout } from '../protected_branches/index.ts';

/** What holds for one tag, and for whoever makes it. */
export interface TagProtection {
  is_protected: boolean;
  may_create: boolean;
}

export const protectedTagsOf = (db: Database, project_id: number) =>
  db.selectFrom('protected_tags').select(['id', 'name', 'create_access_level']).where('project_id', '=', project_id);

/**
 * What holds for the tags of a project, asked once for all of them. Of several protections that are about a tag the most generous decides.
 * @param project with the caller's level in it
 * @returns a function from the name of a tag
 */
export async function tagProtectionFor(
  db: Database,
  project: Pick<Project, 'id' | 'access_level'>,
): Promise<(tag: string) => TagProtection> {
  const rules = await protectedTagsOf(db, project.id).execute();
  const mayPush = project.access_level >= levels.developer;
  return (tag) => {
    const own = rules.filter(({ name }) => isAbout(name, tag));
    // Level 0 is nobody's, not everybody's.
    const isAdmitted = own.some(({ create_access_level: level }) => level >= levels.developer && project.access_level >= level);
    return { is_protected: own.length > 0, may_create: mayPush && (own.length === 0 || isAdmitted) };
  };
}
