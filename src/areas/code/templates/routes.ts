/** Templates for common files, and for the descriptions of a project's issues and merge requests (docs/reference/templates.md). */
import { type Static, Type } from 'typebox';
import { anyone, type MaybeCaller, type Project, projectVisible } from '../../../access/index.ts';
import { get, notFound, nullable, one, optional, pageOf, resource, type Services } from '../../../http/index.ts';
import { pageOfArray, paging } from '../../../lists/index.ts';
import { type Kind, kinds, type License, licenses, textOfLicense, textsOf } from './definition.ts';
import { namesIn, type TextKind, textKinds, textNamed } from './git.ts';
import { factsAbout, filledIn, isPopular, nicknameOf } from './license_rules.ts';

const ListedTemplate = resource('ListedTemplate', { key: Type.String(), name: Type.String() });
const Template = resource('Template', { name: Type.String(), content: Type.String() });
const Facts = Type.Array(Type.String());
const LicenseTemplate = resource('LicenseTemplate', {
  key: Type.String({ description: 'The SPDX ID in lower case' }),
  name: Type.String(),
  nickname: nullable(Type.String()),
  popular: Type.Boolean(),
  featured: Type.Boolean({ description: 'Equal to `popular`' }),
  html_url: nullable(Type.String()),
  source_url: nullable(Type.String()),
  description: nullable(Type.String()),
  conditions: Facts,
  permissions: Facts,
  limitations: Facts,
  content: Type.String(),
});
export const AnyTemplate = Type.Union([LicenseTemplate, Template]);

const filling = {
  project: optional(Type.String({ maxLength: 1000, description: 'Fills `[project]`' })),
  fullname: optional(
    Type.String({ maxLength: 1000, description: 'Fills `[fullname]`; by default the name of the caller' }),
  ),
};
type Filling = { project?: string | undefined; fullname?: string | undefined };

async function present(license: License, caller: MaybeCaller, given: Filling): Promise<Static<typeof LicenseTemplate>> {
  const { id, name, url } = license;
  const popular = isPopular(id);
  const fullname = given.fullname || caller?.name;
  return {
    key: id.toLowerCase(),
    name,
    nickname: nicknameOf(id),
    popular,
    featured: popular,
    html_url: `https://spdx.org/licenses/${id}.html`,
    source_url: url || null,
    description: null,
    ...factsAbout(id),
    content: filledIn(await textOfLicense(license), {
      fullname,
      project: given.project,
      year: new Date().getUTCFullYear(),
    }),
  };
}

const names: Readonly<Record<Kind, string>> = {
  gitignores: 'Gitignore',
  dockerfiles: 'Dockerfile',
  gitlab_ci_ymls: 'Gitlab ci yml',
};

async function listed(kind: Kind) {
  return Object.keys(await textsOf(kind)).map((name) => ({ key: name, name }));
}

/** A template by name, case-insensitive. */
async function named(kind: Kind, key: string): Promise<Static<typeof Template> | undefined> {
  const texts = Object.entries(await textsOf(kind));
  const found = texts.find(([name]) => name.toLowerCase() === key.toLowerCase());
  return found && { name: found[0], content: found[1] };
}

const key = Type.String({ description: 'As the list has it' });

const ofKind = (kind: Kind) => {
  const Noun = names[kind].replaceAll(/ (\w)/g, (_, letter: string) => letter.toUpperCase());
  const missing = `404 ${names[kind]} Not Found`;
  return [
    get(`/templates/${kind}`, {
      operation: `list${Noun}Templates`,
      summary: `List templates for ${kind === 'gitignores' ? '`.gitignore`' : kind === 'dockerfiles' ? '`Dockerfile`' : '`.gitlab-ci.yml`'}`,
      access: anyone,
      input: paging,
      returns: pageOf(ListedTemplate),
      handle: async ({ input }) => pageOfArray(await listed(kind), input),
    }),
    get(`/templates/${kind}/:key`, {
      operation: `get${Noun}Template`,
      summary: `Show a template for ${kind === 'gitignores' ? '`.gitignore`' : kind === 'dockerfiles' ? '`Dockerfile`' : '`.gitlab-ci.yml`'}`,
      access: anyone,
      input: { key },
      returns: one(Template),
      refusals: { 404: missing },
      handle: async ({ input }) => {
        const template = await named(kind, input.key);
        if (!template) throw notFound(names[kind]);
        return template;
      },
    }),
  ];
};

const types = ['dockerfiles', 'gitignores', 'gitlab_ci_ymls', 'licenses', ...textKinds] as const;
type TemplateType = (typeof types)[number];
const type = Type.Enum([...types]);
const isText = (asked: TemplateType): asked is TextKind => (textKinds as readonly string[]).includes(asked);

async function listedIn(services: Services, project: Project, asked: TemplateType) {
  if (asked === 'licenses') return Array.from(licenses, ([of, { name }]) => ({ key: of, name }));
  if (isText(asked)) return (await namesIn(services, project, asked)).map((name) => ({ key: name, name }));
  return listed(asked);
}

async function shownIn(
  services: Services,
  { caller, project }: { caller: MaybeCaller; project: Project },
  { type: asked, name, ...given }: Filling & { type: TemplateType; name: string },
): Promise<Static<typeof AnyTemplate> | undefined> {
  if (asked === 'licenses') {
    const license = licenses.get(name.toLowerCase());
    return license && present(license, caller, given);
  }
  if (!isText(asked)) return named(asked, name);
  const content = await textNamed(services, project, asked, name);
  return content === undefined ? undefined : { name, content };
}

export const templateRoutes = [
  ...kinds.flatMap(ofKind),
  get('/templates/licenses', {
    operation: 'listLicenseTemplates',
    summary: 'List the licenses that the Open Source Initiative has approved, with their texts',
    access: anyone,
    input: {
      popular: optional(Type.Boolean({ description: 'Whether to list only those that are chosen most' })),
      ...paging,
    },
    returns: pageOf(LicenseTemplate),
    handle: async ({ caller, input }) => {
      const wanted = [...licenses.values()].filter(({ id }) => !input.popular || isPopular(id));
      const page = pageOfArray(wanted, input);
      return { ...page, items: await Promise.all(page.items.map((license) => present(license, caller, {}))) };
    },
  }),
  get('/templates/licenses/:key', {
    operation: 'getLicenseTemplate',
    summary: 'Show a license, filled in',
    access: anyone,
    input: { key, ...filling },
    returns: one(LicenseTemplate),
    refusals: { 404: '404 License Not Found' },
    handle: async ({ caller, input }) => {
      const license = licenses.get(input.key.toLowerCase());
      if (!license) throw notFound('License');
      return present(license, caller, input);
    },
  }),
  get('/projects/:id/templates/:type', {
    operation: 'listProjectTemplates',
    summary: 'List the templates of a kind that a project can use',
    description: 'Those for issues and merge requests are files of its default branch.',
    access: projectVisible,
    input: { type, ...paging },
    returns: pageOf(ListedTemplate),
    handle: async ({ project, caller: _caller, input, ...services }) =>
      pageOfArray(await listedIn(services, project, input.type), input),
  }),
  get('/projects/:id/templates/:type/:name', {
    operation: 'getProjectTemplate',
    summary: 'Show a template that a project can use, with a license filled in',
    access: projectVisible,
    input: {
      type,
      name: Type.String(),
      source_template_project_id: optional(Type.Integer({ description: 'Without effect: there are no other sources' })),
      ...filling,
    },
    returns: one(AnyTemplate),
    refusals: { 404: '404 Template Not Found' },
    handle: async ({ project, caller, input, ...services }) => {
      const template = await shownIn(services, { caller, project }, input);
      if (!template) throw notFound('Template');
      return template;
    },
  }),
];
