/** The parameters of a new migration (docs/reference/bulk_imports.md#starting). */
import { type Static, Type } from 'typebox';
import { alsoAs, deprecated, NotBlank, optional, refusedAs } from '../../../http/index.ts';
import { entityTypes } from './definition.ts';

const maximumEntities = 100;

const badSource =
  "must be a relative path and not include protocol, sub-domain, or domain information. For example, 'source/full/path' not 'https://example.com/source/full/path'";
const badNamespace =
  'must have a relative path structure with no HTTP protocol characters, or leading or trailing forward slashes. Path segments must not start or end with a special character, and must not contain consecutive special characters.';

const segment = '[a-zA-Z0-9_.][a-zA-Z0-9_.\\-]*';
const strictSegment = '[a-zA-Z0-9]+([._\\-][a-zA-Z0-9]+)*';
const pathOf = (part: string) => `${part}(/${part})*`;

const Entity = Type.Object({
  source_type: Type.Enum(entityTypes.map((type) => `${type}_entity` as const)),
  source_full_path: refusedAs(badSource, Type.String({ pattern: `^${pathOf(segment)}$` })),
  destination_slug: alsoAs('destination_name', NotBlank()),
  destination_name: optional(deprecated('use `destination_slug`', Type.String())),
  destination_namespace: refusedAs(
    badNamespace,
    Type.String({
      pattern: `^(${pathOf(strictSegment)})?$`,
      description: 'Full path of a group; empty for the top level, where only groups can be created',
    }),
  ),
  migrate_projects: Type.Boolean({ default: true, description: 'Whether a group is copied with its projects' }),
  migrate_memberships: Type.Boolean({ default: true, description: 'Whether direct members are copied' }),
});

export const migrationInput = {
  configuration: Type.Object({
    url: NotBlank({ description: 'Base URL of the source' }),
    access_token: NotBlank({ description: 'Token for the source, with the scope `api`' }),
  }),
  entities: Type.Array(Entity, { minItems: 1, maxItems: maximumEntities }),
};

export type GivenEntity = Static<typeof Entity>;
