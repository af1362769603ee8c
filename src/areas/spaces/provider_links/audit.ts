/** What audit events say of links of groups with directories and other providers. */
import { auditedNoun } from '../../instance/audit_events/index.ts';

export const ldapGroupLinkAudit = auditedNoun({
  table: 'ldap_group_links',
  type: 'LdapGroupLink',
  target: { details: "it.provider || ' ' || coalesce(it.cn, it.filter)" },
  entity: { Group: 'it.group_id' },
  added: 'ldap_group_links_created',
  removed: 'ldap_group_links_removed',
});

export const samlGroupLinkAudit = auditedNoun({
  table: 'saml_group_links',
  type: 'SamlGroupLink',
  target: { details: 'it.name' },
  entity: { Group: 'it.group_id' },
  added: 'saml_group_links_created',
  removed: 'saml_group_links_removed',
});
