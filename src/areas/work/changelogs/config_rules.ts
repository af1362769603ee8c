/** Changelog settings in a repository (docs/reference/changelogs.md#settings). Pure functions. */
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';
import { jsonOfYaml } from '../../../front_matter/index.ts';
import { usualTemplate } from './section_rules.ts';

export class InvalidSettings extends Error {
  override name = 'InvalidSettings';
}

const Text = (maxLength: number) => Type.Optional(Type.String({ maxLength }));
const File = Type.Object({
  date_format: Text(100),
  template: Text(50_000),
  categories: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 255 }))),
  include_groups: Type.Optional(Type.Array(Type.String({ maxLength: 2000 }), { maxItems: 20 })),
  tag_regex: Text(500),
});

export type Settings = Required<Omit<Static<typeof File>, 'tag_regex'>> & { tag_regex?: string | undefined };

const usualSettings: Settings = {
  date_format: '%Y-%m-%d',
  template: usualTemplate,
  categories: {},
  include_groups: [],
};

/** Longer files are not read as settings. */
export const maximumSettings_bytes = 64 * 1024;

/**
 * Parses the settings file. Omitted settings have their defaults.
 * @throws InvalidSettings
 */
export function settingsIn(yaml: string): Settings {
  if (yaml.trim() === '') return usualSettings;
  const json = jsonOfYaml(yaml);
  const value: unknown = json === undefined ? undefined : JSON.parse(json);
  if (!Check(File, value)) throw new InvalidSettings('it is not a valid changelog configuration');
  return { ...usualSettings, ...value };
}
