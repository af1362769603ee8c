# The Perl client GitLab::API::v4 against a server: a story for each line of standard input, which names it and its place as JSON.
# The place has url, tokens and ids of people, project and group. A line of standard output says how the story ended: null, or what was raised.
use strict;
use warnings FATAL => 'all';
use GitLab::API::v4;
use JSON;

my $json = JSON->new->utf8->allow_nonref->canonical;

sub client {
    my ($place, $persona) = @_;
    return GitLab::API::v4->new(url => "$place->{url}/api/v4", private_token => $place->{people}{$persona}{token});
}

sub same {
    my ($found, $expected) = map { $json->encode($_) } @_;
    die "$found is not $expected" if $found ne $expected;
}

# Calls what must be refused, with this status and the beginning of this body: the client keeps 50 characters of it.
sub refused {
    my ($status, $message, $call) = @_;
    die "not refused: $message" if eval { $call->(); 1 };
    my $said = "(HTTP $status)";
    my $body = substr($json->encode({ message => $message }), 0, 50);
    $body =~ s/\}$//;
    die "$@ does not say $said: $body" if index($@, $said) < 0 || index($@, $body) < 0;
}

# What the client has no method for.
sub call {
    my ($api, $verb, $path, $content) = @_;
    return $api->rest_client->request($verb, $path, [], { headers => { 'private-token' => $api->private_token }, content => $content });
}

sub a_project {
    my ($place, $name) = @_;
    my $made = client($place, 'owner')->create_project({ name => $name, namespace_id => $place->{group}{id}, initialize_with_readme => JSON::true });
    return (client($place, 'maintainer'), $made->{id});
}

sub names { return [map { $_->{name} } @{ $_[0] }] }

my %stories = (
    boards => sub {
        my ($place) = @_;
        my ($api, $project) = (client($place, 'reporter'), $place->{project}{id});
        my @labels = map { $api->create_label($project, { name => $_, color => '#aabbcc' }) } qw(todo doing);
        my $board = call($api, 'POST', "projects/$project/boards", { name => 'Kanban' });
        my @lists = map { $api->create_project_board_list($project, $board->{id}, { label_id => $_->{id} }) } @labels;
        same([map { $_->{position} } @lists], [0, 1]);
        refused(400, { label_id => ['has already been taken'] }, sub { $api->create_project_board_list($project, $board->{id}, { label_id => $labels[0]{id} }) });
        $api->edit_project_board_list($project, $board->{id}, $lists[1]{id}, { position => 0 });
        same([map { $_->{label}{name} } @{ $api->project_board_lists($project, $board->{id}) }], ['doing', 'todo']);
        $api->delete_project_board_list($project, $board->{id}, $lists[1]{id});
        same($api->project_board_list($project, $board->{id}, $lists[1]{id}), undef);
        same(names($api->paginator('project_boards', $project, { per_page => 1 })->all()), ['Kanban']);

        my $group = $place->{group}{id};
        my $ofGroup = call($api, 'POST', "groups/$group/boards", { name => 'Orchard' });
        my $label = call($api, 'POST', "groups/$group/labels", { name => 'ripe', color => '#aabbcc' });
        my $list = $api->create_group_board_list($group, $ofGroup->{id}, { label_id => $label->{id} });
        refused(400, { error => 'List could not be moved!' }, sub { $api->edit_group_board_list($group, $ofGroup->{id}, $list->{id}, { position => 9 }) });
        same($api->group_board_list($group, $ofGroup->{id}, $list->{id})->{label}{name}, 'ripe');
        same(names($api->group_boards($group)), ['Orchard']);
        $api->delete_group_board_list($group, $ofGroup->{id}, $list->{id});
        same($api->group_board($group, $ofGroup->{id})->{lists}, []);
    },

    search => sub {
        my ($place) = @_;
        my $api = client($place, 'owner');
        my $issue = $api->create_issue($place->{project}{id}, { title => 'Cut the cattail_bed' });
        same([map { $_->{id} } @{ $api->search({ scope => 'issues', search => 'cattail_bed', fields => 'title' }) }], [$issue->{id}]);
        same([map { $_->{id} } @{ $api->paginator('search', { scope => 'projects', search => $place->{project}{path}, per_page => 1 })->all() }], [$place->{project}{id}]);
        refused(400, 'fields is supported only for issues, merge_requests', sub { $api->search({ scope => 'milestones', search => 'a', fields => 'title' }) });
    },

    releases => sub {
        my ($place) = @_;
        my ($api, $project) = a_project($place, 'Larch');
        refused(422, 'Ref is not specified', sub { $api->create_release($project, { tag_name => 'v1/0' }) });
        my $links = [{ name => 'Manual', url => 'https://files.example/manual' }];
        my $made = $api->create_release($project, { tag_name => 'v1/0', ref => 'main', name => 'First', description => 'Notes', assets => { links => $links } });
        same([@$made{qw(tag_name name)}, $made->{assets}{count}], ['v1/0', 'First', 5]);
        refused(409, 'Release already exists', sub { $api->create_release($project, { tag_name => 'v1/0' }) });
        same($api->update_release($project, 'v1/0', { description => 'More' })->{description}, 'More');
        my $manual = $api->release_links($project, 'v1/0')->[0];
        refused(400, ['Name has already been taken'], sub { $api->create_release_link($project, 'v1/0', { name => 'Manual', url => 'https://files.example/other' }) });
        my $packet = $api->create_release_link($project, 'v1/0', { name => 'Packet', url => 'https://files.example/packet' });
        $api->update_release_link($project, 'v1/0', $manual->{id}, { name => 'Handbook' });
        same($api->release_link($project, 'v1/0', $manual->{id})->{name}, 'Handbook');
        $api->delete_release_link($project, 'v1/0', $packet->{id});
        same(names($api->release($project, 'v1/0')->{assets}{links}), ['Handbook']);
        $api->create_release($project, { tag_name => 'v2', ref => 'main' });
        same(names($api->paginator('releases', $project, { per_page => 1, sort => 'asc' })->all()), ['First', 'v2']);
        $api->delete_release($project, 'v1/0');
        same($api->release($project, 'v1/0'), undef);
        same($api->tag($project, 'v1/0')->{release}, undef);
    },

    environments => sub {
        my ($place) = @_;
        my ($api, $project) = a_project($place, 'Slope');
        my $staging = $api->create_environment($project, { name => 'staging', external_url => 'https://a.example' });
        same([@$staging{qw(slug tier state)}], ['staging', 'staging', 'available']);
        refused(400, { name => ['has already been taken'] }, sub { $api->create_environment($project, { name => 'staging' }) });
        $api->edit_environment($project, $staging->{id}, { tier => 'testing' });
        my %recorded = (environment => 'production', sha => $api->commit($project, 'main')->{id}, ref => 'main', tag => JSON::false, status => 'success');
        my $made = call($api, 'POST', "projects/$project/deployments", \%recorded);
        same($api->deployment($project, $made->{id})->{environment}{name}, 'production');
        same([map { $_->{status} } @{ $api->deployments($project, { environment => 'production' }) }], ['success']);
        same(names($api->paginator('environments', $project, { per_page => 1 })->all()), ['production', 'staging']);
        refused(403, '403 Forbidden', sub { $api->delete_environment($project, $staging->{id}) });
        $api->stop_environment($project, $staging->{id});
        same($api->environments($project, { states => 'stopped' })->[0]{tier}, 'testing');
        $api->delete_environment($project, $staging->{id});
        same(names($api->environments($project)), ['production']);
    },

    pipelines => sub {
        my ($place) = @_;
        my ($api, $project) = a_project($place, 'Rill');
        my $sha = $api->commit($project, 'main')->{id};
        $api->create_commit_status($project, $sha, { state => 'success', name => $_ }) for qw(build test);
        my $pipeline = $api->pipelines($project, { status => 'success' })->[0];
        same([@$pipeline{qw(sha source)}], [$sha, 'external']);
        same($api->pipeline($project, $pipeline->{id})->{detailed_status}{text}, 'Passed');
        same($api->commit($project, $sha)->{last_pipeline}{id}, $pipeline->{id});
        my $jobs = $api->paginator('pipeline_jobs', $project, $pipeline->{id}, { per_page => 1 })->all();
        same([sort @{ names($jobs) }], ['build', 'test']);
        same($api->jobs($project, { scope => 'failed' }), []);
        same($api->job($project, $jobs->[0]{id})->{commit}{id}, $sha);
        same($api->job_trace_file($project, $jobs->[0]{id}), undef);
        refused(405, '405 Method Not Allowed', sub { $api->cancel_pipeline_jobs($project, $pipeline->{id}) });
        refused(405, '405 Method Not Allowed', sub { $api->retry_job($project, $jobs->[0]{id}) });
        client($place, 'owner')->delete_pipeline($project, $pipeline->{id});
        same($api->commit_statuses($project, $sha), []);
        $api->create_file($project, '.gitlab-ci.yml', { branch => 'main', content => 'press: {script: press}', commit_message => 'Build' });
        my $made = $api->create_pipeline($project, { ref => 'main' });
        same([@$made{qw(source status)}], ['api', 'pending']);
        same($api->cancel_pipeline_jobs($project, $made->{id})->{status}, 'canceled');
    },

    badges => sub {
        my ($place) = @_;
        my ($api, $project) = a_project($place, 'Medal');
        my ($owner, $group) = (client($place, 'owner'), $place->{group}{id});
        my %addresses = (link_url => 'https://ci.example/%{project_path}', image_url => 'https://ci.example/%{default_branch}.svg');
        my $above = $owner->create_group_badge($group, { name => 'Build', %addresses });
        my $made = $api->create_project_badge($project, { name => 'Cover', %addresses });
        same([map { [@$_{qw(name kind)}] } @{ $api->project_badges($project) }], [['Build', 'group'], ['Cover', 'project']]);
        refused(400, { link_url => ['is blocked: Only allowed schemes are http, https'] }, sub { $api->create_project_badge($project, { %addresses, link_url => 'ftp://a' }) });
        $api->edit_project_badge($project, $made->{id}, { name => 'Coverage' });
        same($api->project_badge($project, $made->{id})->{name}, 'Coverage');
        same($api->preview_project_badge($project, \%addresses)->{rendered_image_url}, 'https://ci.example/main.svg');
        $api->delete_project_badge($project, $made->{id});
        same($owner->edit_group_badge($group, $above->{id}, { name => 'Builds' })->{name}, 'Builds');
        same($owner->preview_group_badge($group, \%addresses)->{link_url}, $addresses{link_url});
        $owner->delete_group_badge($group, $above->{id});
        same($owner->group_badges($group), []);
        same($owner->group_badge($group, $above->{id}), undef);
    },

    templates => sub {
        my ($place) = @_;
        my $api = GitLab::API::v4->new(url => "$place->{url}/api/v4");
        same(scalar(@{ $api->gitignores_templates }), 20);
        same($api->gitignores_template('Perl')->{name}, 'Perl');
        same($api->gitlab_ci_ymls_templates, []);
        same($api->gitlab_ci_ymls_template('Perl'), undef);
        same(scalar(grep { !$_->{popular} } @{ $api->license_templates({ popular => 1 }) }), 0);
        same($api->license_template('mit', { fullname => 'Ada' })->{content} =~ / Ada/ ? 1 : 0, 1);
    },

    custom_attributes => sub {
        my ($place) = @_;
        my $api = client($place, 'admin');
        for my $level (['user', $place->{people}{guest}{id}], ['group', $place->{group}{id}], ['project', $place->{project}{id}]) {
            my ($kind, $id) = @$level;
            my ($set, $get, $list, $delete) = ("set_custom_${kind}_attribute", "custom_${kind}_attribute", "custom_${kind}_attributes", "delete_custom_${kind}_attribute");
            same($api->$set($id, 'soil', { value => 'clay' }), { key => 'soil', value => 'clay' });
            $api->$set($id, 'soil', { value => 'loam' });
            same($api->$get($id, 'soil')->{value}, 'loam');
            refused(400, 'value is missing', sub { $api->$set($id, 'soil', {}) });
            same([map { $_->{key} } @{ $api->$list($id) }], ['soil']);
            $api->$delete($id, 'soil');
            same($api->$get($id, 'soil'), undef);
        }
        refused(403, '403 Forbidden', sub { client($place, 'owner')->custom_group_attributes($place->{group}{id}) });
    },

    broadcast_messages => sub {
        my ($place) = @_;
        my $api = client($place, 'admin');
        refused(400, { color => ['is not a valid color'] }, sub { $api->create_broadcast_message({ message => 'Soon', color => 'reddish' }) });
        my $made = $api->create_broadcast_message({ message => 'Soon', target_access_levels => [30], dismissable => JSON::true });
        $api->edit_broadcast_message($made->{id}, { message => 'Now' });
        same(client($place, 'guest')->broadcast_message($made->{id})->{message}, 'Now');
        same($api->broadcast_messages({ per_page => 1 })->[0]{id}, $made->{id});
        $api->delete_broadcast_message($made->{id});
        same($api->broadcast_message($made->{id}), undef);
    },

    instance => sub {
        my ($place) = @_;
        my $developer = client($place, 'developer');
        $developer->create_current_user_ssh_key({ title => 'Laptop', key => $place->{public_key} });
        my $api = client($place, 'admin');
        same($api->key($developer->current_user_ssh_keys->[0]{id})->{user}{username}, $place->{people}{developer}{username});
        my $counts = $api->statistics;
        same([sort keys %$counts], [qw(active_users forks groups issues merge_requests milestones notes projects snippets ssh_keys users)]);
        same($counts->{users} =~ /^[\d,]+$/ ? 1 : 0, 1);
        refused(403, '403 Forbidden', sub { client($place, 'owner')->statistics });
        same([sort keys %{ $api->compound_metrics }], [qw(jobs processes queues)]);
    },
);

$| = 1;
while (my $line = <STDIN>) {
    my $asked = $json->decode($line);
    my $problem = eval { $stories{ $asked->{story} }->($asked->{place}); 1 } ? undef : $@;
    print $json->encode($problem), "\n";
}
