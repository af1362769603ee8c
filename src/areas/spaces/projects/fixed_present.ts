/**
 * Fields of projects and groups that clients expect and that never change here, each with the reason
 * (docs/reference/projects.md#fields).
 */
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import { since } from '../../../http/index.ts';

/**
 * A field that has the same value in every reply.
 * @param reason a clause, as in `there are no packages`
 */
export const fixed = <S extends TSchema>(schema: S, reason: string) =>
  Object.assign(schema, { description: `Always the same: ${reason}` });

const off = (reason: string) => fixed(Type.Boolean(), reason);
const Disabled = (reason: string) => fixed(Type.Enum(['disabled']), reason);
const [noPackages, noImages, noServiceDesk, noPages, noScans, noMonitoring, noModels] = [
  'there are no packages',
  'there is no container registry',
  'there is no service desk',
  'there are no pages',
  'there are no security scans',
  'there is no monitoring',
  'there are no models',
];

export const fixedProjectFields = {
  packages_enabled: off(noPackages),
  container_registry_enabled: off(noImages),
  service_desk_enabled: off(noServiceDesk),
  package_registry_access_level: Disabled(noPackages),
  container_registry_access_level: Disabled(noImages),
  pages_access_level: Disabled(noPages),
  infrastructure_access_level: Disabled('there is no infrastructure as code'),
  monitor_access_level: Disabled(noMonitoring),
  analytics_access_level: Disabled('there are no analytics'),
  security_and_compliance_access_level: Disabled(noScans),
  model_experiments_access_level: Disabled(noModels),
  model_registry_access_level: Disabled(noModels),
  only_allow_merge_if_all_status_checks_passed: since('premium', off('there are no external status checks')),
  merge_pipelines_enabled: since('premium', off('pipelines are made of branches, and not of merged results')),
  merge_trains_enabled: since('premium', off('there are no merge trains')),
  requirements_enabled: since('premium', off('there are no requirements')),
  requirements_access_level: since('premium', Disabled('there are no requirements')),
  security_and_compliance_enabled: since('premium', off(noScans)),
  external_authorization_classification_label: since(
    'premium',
    fixed(Type.Null(), 'no other service decides on access'),
  ),
};

export const fixedProjectValues: Static<TObject<typeof fixedProjectFields>> = {
  packages_enabled: false,
  container_registry_enabled: false,
  service_desk_enabled: false,
  package_registry_access_level: 'disabled',
  container_registry_access_level: 'disabled',
  pages_access_level: 'disabled',
  infrastructure_access_level: 'disabled',
  monitor_access_level: 'disabled',
  analytics_access_level: 'disabled',
  security_and_compliance_access_level: 'disabled',
  model_experiments_access_level: 'disabled',
  model_registry_access_level: 'disabled',
  only_allow_merge_if_all_status_checks_passed: false,
  merge_pipelines_enabled: false,
  merge_trains_enabled: false,
  requirements_enabled: false,
  requirements_access_level: 'disabled',
  security_and_compliance_enabled: false,
  external_authorization_classification_label: null,
};
