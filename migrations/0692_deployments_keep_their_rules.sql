-- The name and tier that an environment had when a deployment was made: its rules stay those, whatever the environment is called later. Null in older rows that do not wait.
alter table deployments add made_as_name text, add made_as_tier text;
update deployments set made_as_name = environments.name, made_as_tier = environments.tier
  from environments where environments.id = deployments.environment_id and deployments.status = 'blocked';
