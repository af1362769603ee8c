-- Rules kept the users and groups that they named after these had left, and gave them back their rights when they came again. From now on the names go with the membership or
-- share (docs/reference/members.md#what-ends-with-a-membership); these are the ones that stayed behind.
create function pg_temp.is_member(named bigint, project bigint, owner bigint) returns boolean language sql stable as $$
  select exists (select from project_authorizations held where user_id = named and project_id = project and (expires_at is null or expires_at > current_date))
      or exists (select from group_authorizations held where user_id = named and group_id = owner and (expires_at is null or expires_at > current_date))
$$;
create function pg_temp.is_known_group(named bigint, project bigint, owner bigint) returns boolean language sql stable as $$
  select exists (
    select from namespaces place join namespaces candidate on candidate.id = named
     where place.id = coalesce(owner, (select namespace_id from projects where id = project))
       and (candidate.id = any(place.traversal_ids) or (owner is not null and place.id = any(candidate.traversal_ids))
            or exists (select from group_links
                        where invited_group_id = candidate.id and (group_id = any(place.traversal_ids) or project_id = project)
                          and (expires_at is null or expires_at > current_date))))
$$;

delete from protected_branch_access_levels entry using protected_branches rule
 where rule.id = entry.protected_branch_id
   and ((entry.user_id is not null and not pg_temp.is_member(entry.user_id, rule.project_id, rule.group_id))
     or (entry.group_id is not null and not pg_temp.is_known_group(entry.group_id, rule.project_id, rule.group_id)));

with ended as (
  delete from protected_environment_rules entry using protected_environments rule
   where rule.id = entry.protected_environment_id
     and ((entry.user_id is not null and not pg_temp.is_member(entry.user_id, rule.project_id, rule.group_id))
       or (entry.group_id is not null and not pg_temp.is_known_group(entry.group_id, rule.project_id, rule.group_id)))
  returning purpose, protected_environment_id, required_approvals
)
insert into protected_environment_rules as known (protected_environment_id, purpose, access_level, required_approvals)
select protected_environment_id, purpose, 40, max(required_approvals) from ended where purpose = 'approve' group by protected_environment_id, purpose
on conflict on constraint protected_environment_rules_key do update set required_approvals = greatest(known.required_approvals, excluded.required_approvals);

delete from approval_rule_users entry
 using (select approval_rules.id, coalesce(approval_rules.project_id, merge_requests.project_id) as project_id
          from approval_rules left join merge_requests on merge_requests.id = approval_rules.merge_request_id
         where merge_requests.state is distinct from 'merged') rule
 where rule.id = entry.approval_rule_id and not pg_temp.is_member(entry.user_id, rule.project_id, null);
