/** Changelogs, generated from the commits of a range (docs/reference/changelogs.md). */
import { type Static, type TObject, Type } from 'typebox';
import { branchWriter, codeReader, type MaybeCaller, type Project } from '../../../access/index.ts';
import { repositoryOf, resolveBranch } from '../../../git/index.ts';
import {
  allOptional,
  forbidden,
  get,
  notFound,
  nothing,
  one,
  optional,
  post,
  resource,
  type Services,
  Timestamp,
  withStatus,
} from '../../../http/index.ts';
import { commitOnto, fileTexts, mayCommitTo } from '../../code/repository/index.ts';
import { commitsOf, failed, rangeTexts, readSettings, textAt } from './git.ts';
import { entriesOf } from './queries.ts';
import { dateIn, sectionOf, versionPattern, withoutV, withSection } from './section_rules.ts';
import { InvalidTemplate } from './template_rules.ts';

const input = {
  version: Type.String({
    pattern: versionPattern,
    maxLength: 255,
    description: 'A semantic version, with or without `v`',
  }),
  ...allOptional({
    from: Type.String({
      description: 'The commit before the range; by default the newest stable tag below the version',
    }),
    to: Type.String({ description: 'The last commit of the range' }),
    date: Timestamp,
    config_file: Type.String({ description: 'By default `.gitlab/changelog_config.yml`' }),
    config_file_ref: Type.String({ description: 'Where the file is read; by default the default branch' }),
  }),
  trailer: Type.String({ default: 'Changelog', maxLength: 255, description: 'The trailer that names the category' }),
};
type Asked = Static<TObject<typeof input>>;

async function section(
  services: Services,
  caller: MaybeCaller,
  project: Project,
  { version, from, to, date, config_file, config_file_ref, trailer }: Asked,
): Promise<string> {
  const repository = repositoryOf(services, project);
  const path = config_file || '.gitlab/changelog_config.yml';
  const settings = await readSettings(repository, config_file_ref || project.default_branch, path);
  const range = { version, from, to: to || project.default_branch };
  const chosen = await commitsOf(project, repository, { range, trailer, settings });
  const entries = await entriesOf(services, caller, project, { chosen, groups: settings.include_groups });
  const written = dateIn(settings.date_format, date === undefined ? new Date() : new Date(date));
  try {
    return sectionOf({ version, date: written }, entries, settings);
  } catch (error) {
    if (error instanceof InvalidTemplate) throw failed(error.message);
    throw error;
  }
}

const notes = resource('ChangelogSection', { notes: Type.String() });
const path = '/projects/:id/repository/changelog';
const failures = [
  ...Object.values(rangeTexts).map((text) => `Failed to generate the changelog: ${text}`),
  'Failed to generate the changelog: <reason>',
];
const refusedBranch = 'You are not allowed to commit a changelog on this branch';

/** A changelog of this size covers decades. */
const maximumChangelog_bytes = 10 * 1024 * 1024;

export const changelogRoutes = [
  get(path, {
    operation: 'getChangelog',
    summary: 'Write the section of a changelog for a version, without committing it',
    access: codeReader,
    input,
    returns: one(notes),
    refusals: { 404: '404 Commit Not Found', 422: failures },
    handle: async ({ project, caller, input, ...services }) => ({
      notes: await section(services, caller, project, input),
    }),
  }),
  post(path, {
    operation: 'createChangelog',
    summary: 'Commit a section for a version to the changelog of a branch',
    access: branchWriter,
    input: {
      ...input,
      branch: optional(Type.String({ description: 'By default the default branch' })),
      file: Type.String({ default: 'CHANGELOG.md', minLength: 1, maxLength: 1000 }),
      message: optional(Type.String({ description: 'By default `Add changelog for version <version>`' })),
    },
    returns: withStatus(200, nothing),
    refusals: {
      400: fileTexts,
      403: `403 Forbidden - ${refusedBranch}`,
      404: ['404 Commit Not Found', '404 Branch Not Found'],
      422: failures,
    },
    handle: async ({ project, caller, input, ...services }) => {
      const branch = input.branch || project.default_branch;
      const { file, version } = input;
      const repository = repositoryOf(services, project);
      if (!(await mayCommitTo(services, { project, caller }, branch))) throw forbidden(refusedBranch);
      if ((await resolveBranch(repository, branch)) === undefined) throw notFound('Branch');
      const added = await section(services, caller, project, { ...input, to: input.to || branch });
      const message = input.message || `Add changelog for version ${withoutV(version)}`;
      await commitOnto(services, { project, caller, branch, message }, async (parent) => {
        const there =
          parent === null
            ? undefined
            : await textAt(repository, parent, { path: file, maximum_bytes: maximumChangelog_bytes });
        const content = Buffer.from(withSection(there ?? '', version, added));
        return [{ action: there === undefined ? 'create' : 'update', file_path: file, content }];
      });
    },
  }),
];
