// The types of the API, from the server's OpenAPI document; `tools/console-types --write OPENAPI`
// writes this file. `Answers` and `Bodies` have what a route responds with and takes, by method
// and path below /api/v1, in which `{}` stands for a parameter.

export interface components {
    schemas: {
        /** @description A finished job. */
        AckedJob: {
            job_id: string;
            /** @description Always `completed`. */
            status: string;
        };
        /** @description An alert. */
        Alert: {
            /** Format: date-time */
            acknowledged_at: string | null;
            acknowledged_by: string | null;
            /** @description The condition of the rule, in words. */
            condition_text: string;
            /** @description The key by which receivers combine all messages about the group. */
            dedup_key: string;
            /**
             * Format: date-time
             * @description When the alert began: later than `since` if the rule waits.
             */
            fired_at: string;
            /** @description Whether its condition changes too often. It is notified again when this ends. */
            flapping: boolean;
            id: string;
            /** @description The group: the values of the grouping keys, or the labels of a received alert. */
            labels: {
                [key: string]: string;
            };
            /** @description Whether a maintenance window mutes its notifications. */
            muted: boolean;
            /** @description The window that does. */
            muted_by: string | null;
            /** Format: date-time */
            resolved_at: string | null;
            /** @description Who resolved it; null if its condition ended. */
            resolved_by: string | null;
            /** @description The rule, which may be deleted; null for a received alert that no rule matches. */
            rule_id: string | null;
            /** @description The name of the rule when the alert began. */
            rule_name: string;
            /** @description Affected services, as the rule named them when the alert began. */
            services: string[];
            /** @description info, warning or critical. */
            severity: string;
            /**
             * Format: date-time
             * @description Since when the condition was met.
             */
            since: string;
            /** @description firing, acknowledged or resolved. */
            status: string;
            summary: string | null;
            /** @description What the value is compared with. */
            threshold: number | null;
            /** @description The value at the last change of the alert; null without data. */
            value: number | null;
        };
        /** @description The condition of an alert rule. */
        AlertCondition: {
            op: components["schemas"]["AlertOperator"];
            /** @description Null if `op` is `absent`. */
            threshold: number | null;
        };
        /**
         * @description When a rule fires: the value of a group compares in this way with the threshold, or there is no
         *     data in the window.
         */
        AlertConditionInput: {
            op: components["schemas"]["AlertOperator"];
            /**
             * Format: double
             * @description Required unless `op` is `absent`.
             */
            threshold?: number | null;
        };
        AlertData: {
            data: components["schemas"]["Alert"];
        };
        /** @description An alert with its notifications and history. */
        AlertDetail: {
            /** Format: date-time */
            acknowledged_at: string | null;
            acknowledged_by: string | null;
            /** @description The condition of the rule, in words. */
            condition_text: string;
            /** @description The key by which receivers combine all messages about the group. */
            dedup_key: string;
            escalation: components["schemas"]["AlertEscalation"];
            /**
             * Format: date-time
             * @description When the alert began: later than `since` if the rule waits.
             */
            fired_at: string;
            /** @description Whether its condition changes too often. It is notified again when this ends. */
            flapping: boolean;
            /** @description Its changes, oldest first. */
            history: components["schemas"]["AlertEvent"][];
            id: string;
            /** @description The group: the values of the grouping keys, or the labels of a received alert. */
            labels: {
                [key: string]: string;
            };
            /** @description Whether a maintenance window mutes its notifications. */
            muted: boolean;
            /** @description The window that does. */
            muted_by: string | null;
            /** @description The messages about it, oldest first. */
            notifications: components["schemas"]["AlertNotification"][];
            /** Format: date-time */
            resolved_at: string | null;
            /** @description Who resolved it; null if its condition ended. */
            resolved_by: string | null;
            /** @description The rule, which may be deleted; null for a received alert that no rule matches. */
            rule_id: string | null;
            /** @description The name of the rule when the alert began. */
            rule_name: string;
            /** @description Affected services, as the rule named them when the alert began. */
            services: string[];
            /** @description info, warning or critical. */
            severity: string;
            /**
             * Format: date-time
             * @description Since when the condition was met.
             */
            since: string;
            /** @description firing, acknowledged or resolved. */
            status: string;
            summary: string | null;
            /** @description What the value is compared with. */
            threshold: number | null;
            /** @description The value at the last change of the alert; null without data. */
            value: number | null;
        };
        AlertDetailData: {
            data: components["schemas"]["AlertDetail"];
        };
        /** @description How far the escalation of an alert has come. */
        AlertEscalation: {
            /**
             * Format: uint32
             * @description How often the policy has started over.
             */
            cycle: number;
            /**
             * Format: date-time
             * @description When the next step is due; null if none is.
             */
            next_step_at: string | null;
            /**
             * Format: date-time
             * @description When the cycle began.
             */
            started_at: string;
        };
        /** @description A change of an alert. */
        AlertEvent: {
            /** Format: date-time */
            at: string;
            /** @description Who caused it. */
            by: string | null;
            /**
             * @description fired, acknowledged, resolved, muted, unmuted, flapping, settled or skipped (somebody could
             *     not be notified).
             */
            event: string;
            /** @description More about it. */
            note: string | null;
            value: number | null;
        };
        /** @description A message about an alert. */
        AlertNotification: {
            /** Format: uint32 */
            attempts: number;
            /** @description null for a person who is on call. */
            channel_id: string | null;
            /** @description null if the channel is deleted. */
            channel_name: string | null;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: uint32
             * @description How often the policy had started over.
             */
            cycle: number;
            /** @description Why the last attempt failed. */
            error: string | null;
            /** @description firing, acknowledged, resolved, flapping or settled. */
            kind: string;
            /** @description The same in all attempts, and in the message. */
            message_id: string;
            /**
             * @description queued, delivered, failed, superseded (the alert ended before it was sent) or dropped (too
             *     many messages waited, or the channel was disabled or deleted).
             */
            status: string;
            /**
             * Format: uint32
             * @description The step of the policy; null if the rule itself named the receiver.
             */
            step_delay_minutes: number | null;
            /**
             * Format: date-time
             * @description When it got its status.
             */
            updated_at: string;
            /** @description The address of a person who is on call. */
            user: string | null;
        };
        /**
         * @description How a value is compared with a threshold; `absent` if there is no data.
         * @enum {string}
         */
        AlertOperator: "gt" | "gte" | "lt" | "lte" | "eq" | "ne" | "absent";
        /** @description `{"data": […], "meta": {…}}` */
        AlertPage: {
            /** @description The items of the page. */
            data: components["schemas"]["Alert"][];
            /** @description The position of the page in the list. */
            meta: components["schemas"]["PageMeta"];
        };
        /** @description An alert rule. */
        AlertRule: {
            channel_ids: string[];
            condition: components["schemas"]["AlertCondition"];
            /** Format: date-time */
            created_at: string;
            created_by: string;
            description: string | null;
            enabled: boolean;
            escalation_policy_id: string | null;
            evaluation: components["schemas"]["AlertRuleEvaluation"];
            for: string;
            /** @description The grouping of the rule, or else that of its query. */
            group_by: string | null;
            id: string;
            name: string;
            on_call_schedule_id: string | null;
            query: components["schemas"]["AlertRuleQuery"];
            services: string[];
            severity: components["schemas"]["AlertSeverity"];
            window: string;
        };
        AlertRuleData: {
            data: components["schemas"]["AlertRule"];
        };
        /** @description What became of the last evaluation of an alert rule. */
        AlertRuleEvaluation: {
            /** @description Why the rule could not be evaluated, wholly or in part; its alerts stay as they are. */
            error: string | null;
            /**
             * Format: date-time
             * @description Since when.
             */
            error_since: string | null;
        };
        /** @description A new alert rule. */
        AlertRuleInput: {
            /** @description The channels that are notified at once. */
            channel_ids?: string[] | null;
            /** @description Required unless the query is of received alerts, whose condition is `gt` 0. */
            condition?: components["schemas"]["AlertConditionInput"] | null;
            description?: string | null;
            /** @description Whether the rule is evaluated. Defaults to true. */
            enabled?: boolean | null;
            escalation_policy_id?: string | null;
            /** @description How long the condition has to be met before an alert fires, at most 1d. Defaults to `0m`. */
            for?: string | null;
            /**
             * @description `tags.<key>`, as in a query of a widget: there is one alert for each group. May be in
             *     `query` instead. Not for received alerts.
             */
            group_by?: string | null;
            name: string;
            /** @description Whoever is on call by this schedule is notified by email. */
            on_call_schedule_id?: string | null;
            query: components["schemas"]["AlertRuleQuery"];
            /** @description Names of affected services, for the reader. */
            services?: string[] | null;
            /** @description Defaults to `warning`. */
            severity?: components["schemas"]["AlertSeverity"] | null;
            /**
             * @description The length of time before each evaluation that the query covers, from 10s to 7d. Defaults to
             *     `5m`.
             */
            window?: string | null;
        };
        /** @description A change of an alert rule; absent fields are unchanged. */
        AlertRulePatch: {
            /** @description Replaces all channels; `null` removes them. */
            channel_ids?: string[] | null;
            /** @description Replaces the condition as a whole. `null` is the condition of received alerts. */
            condition?: components["schemas"]["AlertConditionInput"] | null;
            /** @description `null` removes it. */
            description?: string | null;
            /** @description `null` is the default, true. */
            enabled?: boolean | null;
            /** @description `null` removes it. */
            escalation_policy_id?: string | null;
            /** @description `null` is the default, `0m`. */
            for?: string | null;
            /** @description `null` removes it; the rule is still grouped if its query is. */
            group_by?: string | null;
            name?: string;
            /** @description `null` removes it. */
            on_call_schedule_id?: string | null;
            /** @description Replaces the query as a whole. */
            query?: components["schemas"]["AlertRuleQuery"];
            /** @description Replaces all services; `null` removes them. */
            services?: string[] | null;
            /** @description `null` is the default, `warning`. */
            severity?: components["schemas"]["AlertSeverity"] | null;
            /** @description `null` is the default, `5m`. */
            window?: string | null;
        };
        /** @description When a rule would have fired. */
        AlertRulePreview: {
            /** @description In the order in which they would have begun. */
            alerts: components["schemas"]["AlertRulePreviewAlert"][];
            /** Format: uint */
            evaluations: number;
            /** @description Seconds between two evaluations. */
            step_seconds: number;
            /**
             * Format: date-time
             * @description When the preview ended early, because there were too many alerts.
             */
            stopped_at: string | null;
        };
        /** @description An alert that would have fired. */
        AlertRulePreviewAlert: {
            /** Format: date-time */
            fired_at: string;
            /** @description Whether its condition changed too often. */
            flapping: boolean;
            labels: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description null if it would still fire at the end of the range.
             */
            resolved_at: string | null;
            /**
             * Format: date-time
             * @description Since when the condition was met.
             */
            since: string;
            /** @description The value when it would have fired; null without data. */
            value: number | null;
        };
        AlertRulePreviewData: {
            data: components["schemas"]["AlertRulePreview"];
        };
        /** @description A rule to preview. */
        AlertRulePreviewInput: {
            /** @description The first evaluation. Defaults to a day before `to`. */
            from?: string | null;
            /** @description A new alert rule. */
            rule: {
                /** @description The channels that are notified at once. */
                channel_ids?: string[] | null;
                /** @description Required unless the query is of received alerts, whose condition is `gt` 0. */
                condition?: components["schemas"]["AlertConditionInput"] | null;
                description?: string | null;
                /** @description Whether the rule is evaluated. Defaults to true. */
                enabled?: boolean | null;
                escalation_policy_id?: string | null;
                /** @description How long the condition has to be met before an alert fires, at most 1d. Defaults to `0m`. */
                for?: string | null;
                /**
                 * @description `tags.<key>`, as in a query of a widget: there is one alert for each group. May be in
                 *     `query` instead. Not for received alerts.
                 */
                group_by?: string | null;
                name: string;
                /** @description Whoever is on call by this schedule is notified by email. */
                on_call_schedule_id?: string | null;
                query: components["schemas"]["AlertRuleQuery"];
                /** @description Names of affected services, for the reader. */
                services?: string[] | null;
                /** @description Defaults to `warning`. */
                severity?: components["schemas"]["AlertSeverity"] | null;
                /**
                 * @description The length of time before each evaluation that the query covers, from 10s to 7d. Defaults to
                 *     `5m`.
                 */
                window?: string | null;
            };
            /** @description Evaluations are before it, at most 31 days after `from`. Defaults to now. */
            to?: string | null;
        };
        /** @description What a rule observes: a metric or events, or alerts that Prometheus delivers. */
        AlertRuleQuery: components["schemas"]["WidgetQuery"] | components["schemas"]["ReceivedAlertsQuery"];
        /** @description An alert rule in a list. */
        AlertRuleSummary: {
            /** @description The condition in words: `avg of cpu.usage > 90 over 5m`. */
            condition_text: string;
            /** Format: date-time */
            created_at: string;
            enabled: boolean;
            group_by: string | null;
            id: string;
            name: string;
            severity: components["schemas"]["AlertSeverity"];
        };
        /** @description `{"data": […], "meta": {…}}` */
        AlertRuleSummaryPage: {
            /** @description The items of the page. */
            data: components["schemas"]["AlertRuleSummary"][];
            /** @description The position of the page in the list. */
            meta: components["schemas"]["PageMeta"];
        };
        /**
         * @description How urgent an alert is.
         * @enum {string}
         */
        AlertSeverity: "info" | "warning" | "critical";
        /**
         * @description A state as it is written.
         * @enum {string}
         */
        AlertmanagerAlertState: "unprocessed" | "active" | "suppressed";
        /** @description The state of an alert and its reasons. */
        AlertmanagerAlertStatus: {
            inhibitedBy: string[];
            mutedBy: string[];
            silencedBy: string[];
            state: components["schemas"]["AlertmanagerAlertState"];
        };
        /** @description The status of the cluster. */
        AlertmanagerCluster: {
            peers: string[];
            /** @description Always `disabled`: there is no cluster. */
            status: string;
        };
        /** @description The configuration. */
        AlertmanagerConfig: {
            /** @description The configuration as YAML. */
            original: string;
        };
        /** @description Who is notified. */
        AlertmanagerReceiver: {
            name: string;
        };
        /** @description The status of the server, as Alertmanager reports it without a cluster. */
        AlertmanagerStatus: {
            cluster: components["schemas"]["AlertmanagerCluster"];
            config: components["schemas"]["AlertmanagerConfig"];
            /**
             * Format: date-time
             * @description When the server started.
             */
            uptime: string;
            versionInfo: components["schemas"]["AlertmanagerVersion"];
        };
        /** @description What the server was built from. */
        AlertmanagerVersion: {
            branch: string;
            buildDate: string;
            buildUser: string;
            goVersion: string;
            /** @description The version of this server. */
            revision: string;
            /** @description The version of Alertmanager whose API this is. */
            version: string;
        };
        /** @description The text of an answer. */
        AnswerText: {
            /**
             * Format: double
             * @description From 0 to 1; below 0.2 if nothing was found.
             */
            confidence: number;
            /** @description Plain text with code between backticks; a number in brackets names a reference. */
            text: string;
        };
        /** @description The result of a backup. */
        BackedUp: {
            /** Format: uint64 */
            bytes: number;
            /** @description Data that is corrupt in the copy because it is corrupt in the original, one line each. */
            damaged: string[];
            /** Format: uint64 */
            files: number;
            target: string;
        };
        BackedUpData: {
            data: components["schemas"]["BackedUp"];
        };
        /** @description The parameters of a backup. */
        BackupInput: {
            /** @description An absolute path on the server's machine that does not exist yet. */
            target: string;
        };
        /**
         * @description The orientation of bars.
         * @enum {string}
         */
        BarOrientation: "horizontal" | "vertical";
        /** @description An image that snapshots of a page are, or were, compared with. */
        Baseline: {
            browser: components["schemas"]["Browser"];
            /** @description The comparison that was approved or used. */
            comparison_id: string | null;
            /** Format: date-time */
            created_at: string;
            created_by: string;
            /** @description Whether new snapshots are compared with it. Others can be restored. */
            current: boolean;
            /** Format: double */
            device_scale_factor: number;
            full_page: boolean;
            id: string;
            /** Format: uint32 */
            image_height: number;
            /** Format: uint64 */
            image_size_bytes: number;
            image_url: string;
            /** Format: uint32 */
            image_width: number;
            /** @description How it became a baseline. */
            origin: components["schemas"]["BaselineOrigin"];
            page_id: string;
            /** @description The earlier baseline that was restored. */
            restored_from: string | null;
            /** @description The snapshot that it was taken from, which may be deleted. */
            snapshot_id: string;
            url: string;
            viewport: components["schemas"]["Viewport"];
        };
        /** @description Baselines, newest first. */
        BaselineList: {
            baselines: components["schemas"]["Baseline"][];
        };
        /**
         * @description How an image became a baseline.
         * @enum {string}
         */
        BaselineOrigin: "first" | "chosen" | "approved" | "updated" | "restored";
        /** @description The result of a batch. */
        BatchAnswer: {
            /** Format: uint */
            accepted: number;
            /** @description The first 50 rejected items; absent if there are none. */
            errors?: components["schemas"]["ItemError"][];
            /** Format: uint */
            rejected: number;
        };
        BatchAnswerData: {
            data: components["schemas"]["BatchAnswer"];
        };
        /**
         * @description The browsers.
         * @enum {string}
         */
        Browser: "chromium";
        /** @description A rejected item of a bulk body. */
        BulkError: {
            code: string;
            /**
             * Format: uint
             * @description The item, from 0; empty lines are not items.
             */
            index?: number | null;
            /**
             * Format: uint
             * @description The line on which it starts, from 1.
             */
            line?: number | null;
            message: string;
        };
        /** @description The result of a bulk request: its response body, also stored in the receipts of its parts. */
        BulkOutcome: {
            /** Format: uint */
            accepted: number;
            /** @description The first 50 errors; absent if there are none. */
            errors?: components["schemas"]["BulkError"][];
            /** Format: uint */
            rejected: number;
            /** @description Items that were ignored without error, by reason; absent if there are none. */
            skipped?: {
                [key: string]: number;
            };
        };
        BulkOutcomeData: {
            data: components["schemas"]["BulkOutcome"];
        };
        /** @description Who makes the request. */
        Caller: {
            /** @description The key; null on the control socket. */
            key: components["schemas"]["CallerKey"] | null;
            scopes: string[];
            /** @description The session; null if the request was made with a key. */
            session: components["schemas"]["ConsoleSession"] | null;
            /** @description The email address of the key. */
            user: string;
        };
        CallerData: {
            data: components["schemas"]["Caller"];
        };
        /** @description The key of a caller. */
        CallerKey: {
            id: string;
            name: string;
        };
        /** @description Why a page was not captured. */
        CaptureError: {
            code: string;
            message: string;
        };
        /** @description A page of counts, the largest first. */
        Cardinality: {
            data: components["schemas"]["CardinalityRow"][];
            meta: components["schemas"]["CardinalityMeta"];
        };
        /** @description The position of a page of counts, and their sum. */
        CardinalityMeta: {
            /**
             * Format: uint
             * @description Maximum number of items of a page.
             */
            limit: number;
            /**
             * Format: uint
             * @description Number of items before the page.
             */
            offset: number;
            /**
             * Format: uint64
             * @description The sum of `series` over all pages. A series counts once for each of its tags if `by` is
             *     `tag`.
             */
            series: number;
            /**
             * Format: uint
             * @description Number of items of the whole list.
             */
            total: number;
        };
        /** @description The counts of a metric, a tag key or a tag value. */
        CardinalityRow: {
            /**
             * Format: uint64
             * @description The number of metrics that have it; 1 for a metric.
             */
            metrics: number;
            /** @description The name of the metric or of the tag key, or the tag value. */
            name: string;
            /**
             * Format: uint64
             * @description The number of series that have it.
             */
            series: number;
            /**
             * Format: uint64
             * @description The number of distinct values: of the tag key, or of `key` in the metric.
             */
            values?: number | null;
        };
        /** @description A region that changed: the smallest rectangle around its pixels. */
        ChangedRegion: {
            /** Format: uint64 */
            diff_pixels: number;
            /** Format: uint32 */
            height: number;
            /** Format: uint32 */
            width: number;
            /** Format: uint32 */
            x: number;
            /** Format: uint32 */
            y: number;
        };
        /** @description A channel with its configuration. */
        Channel: {
            channel_type: string;
            /** @description Secrets are redacted. */
            config: components["schemas"]["ChannelConfig"];
            /** Format: date-time */
            created_at: string;
            enabled: boolean;
            /**
             * Format: uint64
             * @description Attempts that did not.
             */
            failure_count: number;
            id: string;
            /** Format: date-time */
            last_tested_at: string | null;
            /**
             * Format: date-time
             * @description When the last message about alerts was sent.
             */
            last_used_at: string | null;
            name: string;
            /**
             * Format: uint64
             * @description Attempts that delivered a message about alerts.
             */
            success_count: number;
            /** @description Whether a test succeeded since the configuration was changed. */
            verified: boolean;
        };
        /**
         * @description The configuration of a channel: `webhook_url` for chats; `routing_key` for `paging_a`; `api_key`
         *     and optionally `api_url` for `paging_b`; `recipients` for `email`; `webhook_url` and optionally
         *     `headers` and `signing_secret` for `webhook`.
         */
        ChannelConfig: {
            api_key?: string | null;
            api_url?: string | null;
            headers?: {
                [key: string]: string;
            } | null;
            recipients?: string[] | null;
            routing_key?: string | null;
            /** @description Signs the requests of a `webhook` channel; generated if absent, and then returned this once. */
            signing_secret?: string | null;
            webhook_url?: string | null;
        };
        /** @description A change of a configuration; `null` removes an optional field. */
        ChannelConfigPatch: {
            api_key?: string | null;
            api_url?: string | null;
            /** @description Replaces all headers. */
            headers?: {
                [key: string]: string;
            } | null;
            recipients?: string[] | null;
            routing_key?: string | null;
            /** @description `null` generates a new one, which is returned this once. */
            signing_secret?: string | null;
            webhook_url?: string | null;
        };
        ChannelData: {
            data: components["schemas"]["Channel"];
        };
        /** @description A new channel. */
        ChannelInput: {
            /**
             * @description The types of channels.
             * @enum {string}
             */
            channel_type: "team_chat_a" | "team_chat_b" | "team_chat_c" | "paging_a" | "paging_b" | "email" | "webhook";
            /**
             * @description The configuration of a channel: `webhook_url` for chats; `routing_key` for `paging_a`; `api_key`
             *     and optionally `api_url` for `paging_b`; `recipients` for `email`; `webhook_url` and optionally
             *     `headers` and `signing_secret` for `webhook`.
             */
            config: {
                api_key?: string | null;
                api_url?: string | null;
                headers?: {
                    [key: string]: string;
                } | null;
                recipients?: string[] | null;
                routing_key?: string | null;
                /** @description Signs the requests of a `webhook` channel; generated if absent, and then returned this once. */
                signing_secret?: string | null;
                webhook_url?: string | null;
            };
            /** @description Defaults to true. */
            enabled?: boolean | null;
            name: string;
        };
        /** @description A change of a channel; absent fields are unchanged. */
        ChannelPatch: {
            /** @description Absent fields are unchanged, and so is a secret that is sent as it was returned. */
            config?: components["schemas"]["ChannelConfigPatch"] | null;
            /** @description `null` is the default, true. */
            enabled?: boolean | null;
            name?: string;
        };
        /** @description A channel in a list. */
        ChannelSummary: {
            channel_type: string;
            /** Format: date-time */
            created_at: string;
            enabled: boolean;
            /**
             * Format: uint64
             * @description Attempts that did not.
             */
            failure_count: number;
            id: string;
            /** Format: date-time */
            last_tested_at: string | null;
            /**
             * Format: date-time
             * @description When the last message about alerts was sent.
             */
            last_used_at: string | null;
            name: string;
            /**
             * Format: uint64
             * @description Attempts that delivered a message about alerts.
             */
            success_count: number;
            /** @description Whether a test succeeded since the configuration was changed. */
            verified: boolean;
        };
        /** @description `{"data": […], "meta": {…}}` */
        ChannelSummaryPage: {
            /** @description The items of the page. */
            data: components["schemas"]["ChannelSummary"][];
            /** @description The position of the page in the list. */
            meta: components["schemas"]["PageMeta"];
        };
        /** @description The result of a test. */
        ChannelTest: {
            /** @description What is wrong, if it failed. */
            error?: string | null;
            /** @description If the test succeeded. */
            message?: string | null;
            success: boolean;
        };
        /** @description An answer to a question. */
        ChatAnswer: {
            answer: components["schemas"]["AnswerText"];
            /** @description The commit that the answer is about. */
            commit: string;
            /** @description Whether a language model worded the answer. */
            generated: boolean;
            /**
             * @description The lines that the answer is about, in the order of the numbers in its text. Empty if
             *     nothing was found.
             */
            references: components["schemas"]["CodeReference"][];
            session_id: string;
        };
        /** @description A question or an answer. */
        ChatMessage: {
            content: string;
            /** @description Only of answers. */
            references?: components["schemas"]["CodeReference"][];
            role: components["schemas"]["ChatRole"];
            /** Format: date-time */
            timestamp: string;
        };
        /**
         * @description Who said something.
         * @enum {string}
         */
        ChatRole: "user" | "assistant";
        /** @description A session. */
        ChatSession: {
            context: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description Questions and answers, oldest first. */
            messages: components["schemas"]["ChatMessage"][];
            repository: string;
            session_id: string;
        };
        /** @description A session that was begun. */
        ChatSessionStart: {
            /** Format: date-time */
            created_at: string;
            repository: string;
            session_id: string;
        };
        /**
         * @description The methods of checks.
         * @enum {string}
         */
        CheckMethod: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";
        /**
         * @description What a check can find.
         * @enum {string}
         */
        CheckOutcome: "up" | "degraded" | "failed";
        /** @description The dead jobs of one class. */
        ClassDeaths: {
            class_name: string;
            /** Format: uint64 */
            count: number;
        };
        /** @description What a file offers. */
        CodeDocumentation: {
            /** @description The public functions and methods. */
            methods: components["schemas"]["CodeMethod"][];
            overview: string;
            usage_examples: string[];
        };
        /** @description The documentation of a file. */
        CodeDocumentationResult: {
            documentation: components["schemas"]["CodeDocumentation"];
        };
        /** @description What code does, from its syntax tree and its documentation. */
        CodeExplanation: {
            /** @description What is imported, and what is called that is defined elsewhere. */
            dependencies: string[];
            inputs: components["schemas"]["CodeParameter"][];
            outputs: components["schemas"]["CodeOutputs"];
            /** @description What happens, in order. */
            steps: string[];
            summary: string;
        };
        /** @description An explanation. */
        CodeExplanationResult: {
            explanation: components["schemas"]["CodeExplanation"];
        };
        /** @description An indexed file. */
        CodeFile: {
            /** Format: uint64 */
            bytes: number;
            file_path: string;
            language: string | null;
            /** Format: uint32 */
            lines: number;
        };
        /** @description Indexed files, by path. */
        CodeFileList: {
            commit: string;
            files: components["schemas"]["CodeFile"][];
            /**
             * Format: uint
             * @description The number of all that match.
             */
            total: number;
        };
        /** @description Lines of a file. */
        CodeFileText: {
            /** Format: uint64 */
            bytes: number;
            commit: string;
            /** @description These lines, exactly as in the commit. */
            content: string;
            file_path: string;
            language: string | null;
            /** Format: uint32 */
            line_end: number | null;
            /**
             * Format: uint32
             * @description Null if the file is empty.
             */
            line_start: number | null;
            /**
             * Format: uint32
             * @description The number of lines of the file.
             */
            lines: number;
        };
        /** @description For which key a code is made. */
        CodeInput: {
            /**
             * @description The key whose permissions the session will have. Another key than that of the request
             *     requires the scope `admin`.
             */
            key_id?: string | null;
        };
        /** @description A public function or method. */
        CodeMethod: {
            description: string;
            /** @description From its documentation and from calls of it. */
            examples: string[];
            name: string;
            parameters: components["schemas"]["CodeParameter"][];
        };
        /** @description What code returns. */
        CodeOutputs: {
            failure: string;
            success: string;
        };
        /** @description A parameter. */
        CodeParameter: {
            /** @description From the documentation; empty if it does not say. */
            description: string;
            name: string;
            /** @description As written; empty if the code does not say. */
            type: string;
        };
        /** @description Lines of the commit. */
        CodeReference: {
            file_path: string;
            /** Format: uint32 */
            line_end: number;
            /** Format: uint32 */
            line_start: number;
            /** @description These lines, 40 at most, exactly as in the commit. */
            snippet: string;
        };
        /** @description Lines that were found. */
        CodeSearchResult: {
            file_path: string;
            /** Format: uint32 */
            line_end: number;
            /** Format: uint32 */
            line_start: number;
            /**
             * Format: double
             * @description With `q`: larger is better; comparable within one response only.
             */
            score: number | null;
            /** @description These lines, 40 at most, exactly as in the commit unless `truncated`. */
            snippet: string;
            /** @description The definition that the lines are, or are part of. */
            symbol: components["schemas"]["CodeSymbol"] | null;
            /**
             * @description Whether lines are cut: those over 8 KiB, and all once the snippets have 512 KiB together.
             *     What is left of a line ends with `…`.
             */
            truncated: boolean;
        };
        /** @description What was found, best first. */
        CodeSearchResults: {
            /** @description The commit that was searched. */
            commit: string;
            results: components["schemas"]["CodeSearchResult"][];
        };
        /** @description A definition. */
        CodeSymbol: {
            /** @description The type or namespace that it belongs to. */
            container: string | null;
            doc: string | null;
            /** @description Such as `function`, `method`, `class`, `struct`, `enum` or `constant`. */
            kind: string;
            /** Format: uint32 */
            line_end: number;
            /** Format: uint32 */
            line_start: number;
            name: string;
            signature: string;
        };
        /** @description How a snapshot is compared. */
        CompareInput: {
            /** @description Rectangles that never differ. */
            ignore_regions?: components["schemas"]["PixelAreaInput"][] | null;
            /**
             * Format: double
             * @description How many percent of the pixels may differ, from 0 to 100. Defaults to the setting
             *     `snapshots.threshold`.
             */
            threshold?: number | null;
        };
        /** @description A comparison. */
        Comparison: {
            /** Format: date-time */
            approved_at: string | null;
            approved_by: string | null;
            baseline_id: string;
            baseline_url: string;
            browser: components["schemas"]["Browser"];
            /** Format: date-time */
            created_at: string;
            created_by: string;
            /**
             * Format: double
             * @description Percent of the pixels of both images together, with four decimals; 0 only if none differs.
             */
            diff_percentage: number;
            /** Format: uint64 */
            diff_pixels: number;
            /** @description The changes in red over a faded baseline; anti-aliasing in yellow. */
            diff_url: string;
            full_page: boolean;
            id: string;
            ignore_regions: components["schemas"]["PixelArea"][];
            /** @description The baseline that an approved snapshot has become. */
            new_baseline_id: string | null;
            page_id: string;
            /** @description Whether no more differs. */
            passed: boolean;
            /** @description Why it was approved or rejected. */
            reason: string | null;
            /** @description The regions that changed, the largest first, 100 at most. */
            regions: components["schemas"]["ChangedRegion"][];
            /**
             * Format: uint64
             * @description The number of all such regions.
             */
            regions_total: number;
            /** Format: date-time */
            rejected_at: string | null;
            rejected_by: string | null;
            /** @description A page that shows the three images, for people. The URL needs no key and expires. */
            review_url: string;
            /** @description Whether the images have different sizes. What only one of them has differs. */
            sizes_differ: boolean;
            snapshot_id: string;
            snapshot_url: string;
            status: components["schemas"]["ComparisonStatus"];
            /**
             * Format: double
             * @description Percent of the pixels that may differ.
             */
            threshold: number;
            /** Format: uint64 */
            total_pixels: number;
            url: string;
            viewport: components["schemas"]["Viewport"];
        };
        /** @description Comparisons, newest first. */
        ComparisonList: {
            comparisons: components["schemas"]["Comparison"][];
        };
        /**
         * @description What is decided about a comparison.
         * @enum {string}
         */
        ComparisonStatus: "pending_review" | "approved" | "rejected";
        /** @description A comparison whose snapshot has become the baseline. */
        ComparisonWithBaseline: {
            id: string;
            new_baseline_id: string;
            status: components["schemas"]["ComparisonStatus"];
        };
        /** @description A session. */
        ConsoleSession: {
            /** @description The address that the session was opened from. */
            address: string;
            /** @description The `User-Agent` of the browser that opened it. */
            agent: string;
            /** Format: date-time */
            created_at: string;
            /** @description Whether the request was made in this session. */
            current: boolean;
            /**
             * Format: date-time
             * @description When the session ends if no request follows.
             */
            expires_at: string;
            id: string;
            key_id: string;
            key_name: string;
            /** Format: date-time */
            last_seen_at: string;
            scopes: string[];
            user: string;
        };
        /** @description `{"data": […], "meta": {…}}` */
        ConsoleSessionPage: {
            /** @description The items of the page. */
            data: components["schemas"]["ConsoleSession"][];
            /** @description The position of the page in the list. */
            meta: components["schemas"]["PageMeta"];
        };
        /** @description Who is on call now. */
        CurrentOnCall: {
            /** @description Null if nobody is on call. */
            on_call: string | null;
            /**
             * Format: date-time
             * @description When it ends; null if it has no end.
             */
            shift_end: string | null;
            /**
             * Format: date-time
             * @description When the shift, or the time without a person, began; null if it has no start.
             */
            shift_start: string | null;
        };
        /** @description A dashboard with its widgets. */
        Dashboard: {
            /** Format: date-time */
            created_at: string;
            description: string | null;
            id: string;
            name: string;
            /** @description The events that are drawn over graphs; absent if there are none. */
            overlays?: components["schemas"]["DashboardOverlay"][];
            /** Format: date-time */
            updated_at: string;
            /** @description The user who made the last change; absent if that is not known. */
            updated_by?: string | null;
            /** @description What readers choose; absent if there are none. */
            variables?: components["schemas"]["DashboardVariable"][];
            /**
             * Format: uint64
             * @description Changes with every change of the dashboard; absent from the response to a repeated request
             *     that created the dashboard.
             */
            version?: number | null;
            widgets: components["schemas"]["Widget"][];
        };
        /** @description An event that is drawn over graphs. */
        DashboardAnnotation: {
            id: string;
            name: string;
            /**
             * Format: uint
             * @description The position of its overlay in `overlays`.
             */
            overlay: number;
            /** @description As in the list of events. */
            properties: {
                [key: string]: unknown;
            };
            tags: {
                [key: string]: string;
            };
            /** Format: date-time */
            timestamp: string;
            user_id: string | null;
            value: number | null;
        };
        /** @description The events of the overlays of a dashboard. */
        DashboardAnnotations: {
            annotations: components["schemas"]["DashboardAnnotation"][];
            /**
             * Format: date-time
             * @description The start of the range, inclusive.
             */
            from: string;
            /**
             * Format: uint64
             * @description The number of older events that are left out, because an overlay has more than 200.
             */
            left_out: number;
            /**
             * Format: date-time
             * @description The end of the range, exclusive.
             */
            to: string;
        };
        DashboardAnnotationsData: {
            data: components["schemas"]["DashboardAnnotations"];
        };
        /** @description The name of a copy. */
        DashboardCopyInput: {
            /** @description Defaults to the name of the original followed by `(copy)`. */
            name?: string | null;
        };
        DashboardData: {
            data: components["schemas"]["Dashboard"];
        };
        /** @description A dashboard for import. */
        DashboardExport: {
            description: string | null;
            name: string;
            overlays?: components["schemas"]["DashboardOverlay"][];
            variables?: components["schemas"]["DashboardVariable"][];
            /** Format: uint32 */
            version: number;
            widgets: components["schemas"]["WidgetDefinition"][];
        };
        DashboardExportData: {
            data: components["schemas"]["DashboardExport"];
        };
        /** @description An exported dashboard; the response body of the export with its `data` is accepted as well. */
        DashboardImportInput: {
            /** @description An object with the fields above, instead of them. */
            data?: components["schemas"]["DashboardImportInput"] | null;
            description?: string | null;
            /** @description Required, unless `data` is given. */
            name?: string | null;
            overlays?: components["schemas"]["DashboardOverlay"][] | null;
            variables?: components["schemas"]["DashboardVariable"][] | null;
            /**
             * Format: uint32
             * @description Must be 1; defaults to 1.
             */
            version?: number | null;
            widgets?: components["schemas"]["WidgetInput"][] | null;
        };
        /** @description A new dashboard. */
        DashboardInput: {
            description?: string | null;
            name: string;
        };
        /** @description New positions of widgets; those not listed stay in place. */
        DashboardLayoutInput: {
            widgets: components["schemas"]["WidgetMoveInput"][];
        };
        /** @description Events that are drawn over the graphs of a dashboard. */
        DashboardOverlay: {
            /** @description `#rrggbb` */
            color?: string | null;
            /** @description The name of the events, or a prefix of it followed by `*`. */
            event: string;
            /** @description Filters by tag key, as in the query of a widget. */
            tags?: {
                [key: string]: string;
            } | null;
            /** @description What readers see instead of the name of the events. */
            title?: string | null;
        };
        /** @description A change of a dashboard; absent fields are unchanged. */
        DashboardPatch: {
            /** @description `null` removes it. */
            description?: string | null;
            name?: string;
        };
        /** @description A whole dashboard: what is absent is removed. */
        DashboardReplacement: {
            description?: string | null;
            name: string;
            overlays?: components["schemas"]["DashboardOverlay"][] | null;
            variables?: components["schemas"]["DashboardVariable"][] | null;
            /**
             * Format: uint64
             * @description The version that is replaced, instead of `If-Match`. If it is not the current one, the
             *     request is refused with `precondition_failed`; `details.version` is the current one.
             */
            version?: number | null;
            widgets: components["schemas"]["DashboardWidgetInput"][];
        };
        /** @description The version of a dashboard to be restored. */
        DashboardRestoreInput: {
            /** Format: uint64 */
            version: number;
        };
        /** @description A dashboard in a list. */
        DashboardSummary: {
            /** Format: date-time */
            created_at: string;
            description: string | null;
            id: string;
            name: string;
            /** Format: date-time */
            updated_at: string;
            /** Format: uint */
            widgets_count: number;
        };
        /** @description `{"data": […], "meta": {…}}` */
        DashboardSummaryPage: {
            /** @description The items of the page. */
            data: components["schemas"]["DashboardSummary"][];
            /** @description The position of the page in the list. */
            meta: components["schemas"]["PageMeta"];
        };
        /** @description A variable, for which readers choose a value. */
        DashboardVariable: {
            /**
             * @description The value of readers who have not chosen one, a tag filter. `*`, or its absence, selects
             *     all.
             */
            default?: string | null;
            /** @description What readers see instead of the name. */
            label?: string | null;
            /** @description Whether readers may choose several values. */
            multiple?: boolean | null;
            /** @description Letters, digits and `_`; not a digit first. Unique. */
            name: string;
            /** @description The tag whose values readers choose from. */
            source?: components["schemas"]["DashboardVariableSource"] | null;
            /** @description The values that readers choose from, instead of `source`. Without either, any value. */
            values?: string[] | null;
        };
        /** @description A tag of exactly one of `metric` and `event`. */
        DashboardVariableSource: {
            /** @description The name of the events, or a prefix of it followed by `*`. */
            event?: string | null;
            metric?: string | null;
            /** @description The key of the tag. */
            tag: string;
        };
        /** @description A version of a dashboard in a list. */
        DashboardVersionSummary: {
            /** @description Whether it is what the dashboard is now. */
            current: boolean;
            name: string;
            /** Format: date-time */
            saved_at: string;
            /** @description The user who saved it; null if that is not known. */
            saved_by: string | null;
            /** Format: uint64 */
            version: number;
            /** Format: uint */
            widgets_count: number;
        };
        /** @description `{"data": […], "meta": {…}}` */
        DashboardVersionSummaryPage: {
            /** @description The items of the page. */
            data: components["schemas"]["DashboardVersionSummary"][];
            /** @description The position of the page in the list. */
            meta: components["schemas"]["PageMeta"];
        };
        /** @description A widget of a dashboard. */
        DashboardWidgetInput: {
            /** @description The id of a widget that the dashboard has, or had; a new widget has none. */
            id?: string | null;
            options?: components["schemas"]["WidgetOptionsInput"] | null;
            /** @description Defaults to the start of the next free row, 4 columns wide and 3 rows high. */
            position?: components["schemas"]["WidgetPosition"] | null;
            query: components["schemas"]["WidgetQuery"];
            title: string;
            type: components["schemas"]["WidgetType"];
        };
        /** @description The dead jobs of one day in UTC. */
        DayDeaths: {
            /** Format: uint64 */
            count: number;
            /** @description `YYYY-MM-DD`. */
            date: string;
        };
        /** @description A dead job with its failure history. */
        DeadJob: {
            /** @description The arguments as sent. */
            arguments: Record<string, unknown>;
            /** Format: uint16 */
            attempts: number;
            /** @description The backtrace of the last failure. */
            backtrace: string[];
            class_name: string;
            /** Format: date-time */
            died_at: string;
            error_class: string;
            error_message: string;
            /** Format: date-time */
            first_failed_at: string;
            id: string;
            /** @description The id of the job before it died. */
            job_id: string;
            /** Format: date-time */
            original_enqueued_at: string;
            queue: string;
            /** @description The newest 25 failures, oldest first. */
            retry_history: components["schemas"]["DeadJobFailure"][];
        };
        /** @description The dead jobs of a period. */
        DeadJobAnalytics: {
            by_class: components["schemas"]["ClassDeaths"][];
            by_error: components["schemas"]["ErrorDeaths"][];
            period: string;
            /** @description One entry for every day of the period. */
            timeline: components["schemas"]["DayDeaths"][];
            /**
             * Format: uint64
             * @description The number of jobs that died, including those retried or deleted since.
             */
            total_dead: number;
        };
        /** @description A failed attempt. */
        DeadJobFailure: {
            /** Format: uint16 */
            attempt: number;
            /** @description The error class and message. */
            error: string;
            /** Format: date-time */
            failed_at: string;
        };
        /** @description A filter of dead jobs; all given conditions must match. */
        DeadJobFilter: {
            class_name?: string | null;
            error_class?: string | null;
            /** @description Only jobs that died before this time, in any format that query parameters accept. */
            older_than?: string | null;
            queue?: string | null;
            /**
             * @description Only jobs with this string in their class, arguments, error class or error message, ignoring
             *     case.
             */
            search?: string | null;
            /** @description Only jobs that died at or after this time, in the same formats. */
            since?: string | null;
        };
        /** @description A page of dead jobs, last died first. */
        DeadJobList: {
            dead_jobs: components["schemas"]["DeadJobSummary"][];
            /** @description The cursor of the next page of a search; absent on its last page. */
            next_cursor?: string | null;
            pagination: components["schemas"]["DeadJobPagination"];
            /**
             * Format: uint
             * @description The number of matching jobs on all pages; absent from the response to a search, which does
             *     not read all of them.
             */
            total?: number | null;
        };
        /** @description The position of a page. */
        DeadJobPagination: {
            /**
             * Format: uint
             * @description The page number, from 1.
             */
            page: number;
            /** Format: uint */
            per_page: number;
        };
        /** @description A selection of dead jobs, by id or by filter. */
        DeadJobSelectionInput: {
            /** @description Must be true to delete jobs, here or in the query string. */
            confirm?: boolean | null;
            /** @description If true, the selected jobs are only counted; `confirm` is not needed. */
            dry_run?: boolean | null;
            /**
             * Format: int64
             * @description If another number of dead jobs is selected, the request is refused with `count_changed`.
             */
            expected_count?: number | null;
            /** @description A filter, instead of ids. */
            filter?: components["schemas"]["DeadJobFilter"] | null;
            /** @description Ids of dead jobs, or their job ids. */
            job_ids?: string[] | null;
        };
        /** @description A dead job. */
        DeadJobSummary: {
            /** @description The arguments as sent. */
            arguments: Record<string, unknown>;
            /** Format: uint16 */
            attempts: number;
            class_name: string;
            /** Format: date-time */
            died_at: string;
            error_class: string;
            error_message: string;
            /** Format: date-time */
            first_failed_at: string;
            id: string;
            /** @description The id of the job before it died. */
            job_id: string;
            queue: string;
        };
        /** @description The payload of the response to a delete. */
        Deleted: {
            /** @description Always true. */
            deleted: boolean;
            /** @description The id of the deleted resource. */
            id: string;
        };
        DeletedData: {
            data: components["schemas"]["Deleted"];
        };
        /** @description The result of deleting dead jobs. */
        DeletedDeadJobs: {
            /** Format: uint */
            deleted: number;
            /**
             * Format: uint
             * @description The number of selected jobs; only in the response to a dry run.
             */
            matched?: number | null;
            message: string;
        };
        /** @description A metric that was deleted. */
        DeletedMetric: {
            deleted: boolean;
            id: string;
            name: string;
        };
        DeletedMetricData: {
            data: components["schemas"]["DeletedMetric"];
        };
        /** @description A deleted monitor. */
        DeletedMonitor: {
            deleted: boolean;
            id: string;
            /** @description The ids of the status pages that showed it and do not any more. */
            removed_from: string[];
        };
        /** @description A deleted resource that others referred to. */
        DeletedTarget: {
            deleted: boolean;
            id: string;
            /** @description The ids of the resources that referred to it and do not any more. */
            removed_from: string[];
        };
        DeletedTargetData: {
            data: components["schemas"]["DeletedTarget"];
        };
        /** @description A diagram. */
        Diagram: {
            kind: components["schemas"]["DiagramKind"];
            /** @description The source text, for Mermaid. */
            mermaid: string;
            slug: string;
            title: string;
        };
        /**
         * @description What a diagram shows.
         * @enum {string}
         */
        DiagramKind: "module_graph" | "class_diagram";
        /** @description Diagrams. */
        DiagramList: {
            commit: string;
            diagrams: components["schemas"]["Diagram"][];
        };
        /** @description The file that is to be documented. */
        DocumentInput: {
            /** @description The path of the file. */
            file: string;
            /** @description The id of the repository. */
            repository: string;
        };
        /** @description An empty body. */
        EmptyInput: Record<string, unknown>;
        /** @description An enqueued job. */
        EnqueuedJob: {
            job_id: string;
            queue: string;
            /** @description `ready` or `scheduled`. */
            status: string;
        };
        /** @description The body of every error response. */
        Error: {
            /** @description The error. */
            error: components["schemas"]["ErrorInner"];
        };
        /** @description Something that happened to an error. */
        ErrorActivity: {
            /** @description `resolve`, `ignore`, `unresolve`, `assign`, `merge`, `comment`; `first_seen`, `regressed` */
            action: string;
            /** @description The new assignee. */
            assignee: string | null;
            /** Format: date-time */
            at: string;
            /**
             * @description The user of the key that the request was sent with; null if it is not known or nobody did
             *     it.
             */
            by: string | null;
            /** @description Null for what the server knows of the error itself. */
            id: string | null;
            /** @description The ids of the errors that were merged into it. */
            merged: string[];
            /** @description The note, the reason or the comment. */
            text: string | null;
            /**
             * Format: date-time
             * @description Until when the error was ignored; null means indefinitely.
             */
            until: string | null;
        };
        ErrorActivityData: {
            data: components["schemas"]["ErrorActivity"];
        };
        /** @description `{"data": […], "meta": {…}}` */
        ErrorActivityPage: {
            /** @description The items of the page. */
            data: components["schemas"]["ErrorActivity"][];
            /** @description The position of the page in the list. */
            meta: components["schemas"]["PageMeta"];
        };
        /** @description A request to assign an error. */
        ErrorAssignInput: {
            /** @description Null removes the assignee. */
            user_id: string | null;
        };
        /** @description The outcome of a bulk action. */
        ErrorBulkAnswer: {
            /**
             * Format: uint
             * @description Errors that the action changed.
             */
            changed: number;
            /**
             * Format: uint
             * @description Errors that were selected and exist.
             */
            matched: number;
        };
        ErrorBulkAnswerData: {
            data: components["schemas"]["ErrorBulkAnswer"];
        };
        /** @description A bulk action: applies to the errors in `ids`, or to all that match `filter`. */
        ErrorBulkInput: {
            /** @enum {string} */
            action: "resolve" | "ignore" | "unresolve" | "assign" | "delete";
            /** @description Must be true to delete. */
            confirm?: boolean | null;
            duration?: string | null;
            filter?: components["schemas"]["ErrorFilter"] | null;
            ids?: string[] | null;
            note?: string | null;
            reason?: string | null;
            user_id?: string | null;
        };
        /** @description A comment to be added. */
        ErrorCommentInput: {
            text: string;
        };
        /** @description The number of occurrences in one bucket. */
        ErrorCount: {
            /** Format: uint64 */
            count: number;
            /** Format: date-time */
            timestamp: string;
        };
        /** @description The dead jobs with one error class. */
        ErrorDeaths: {
            /** Format: uint64 */
            count: number;
            error_class: string;
        };
        /** @description The location of the error in the request. */
        ErrorDetails: {
            /** Format: uint */
            accepted?: number;
            /** @description The first 50 errors; absent if there are none. */
            errors?: components["schemas"]["BulkError"][];
            /** @description The field or query parameter. */
            field?: string | null;
            /** @description The id of the conflicting resource. */
            id?: string | null;
            /**
             * Format: uint64
             * @description The index of the item in a batch, from 0.
             */
            index?: number | null;
            /** Format: uint */
            rejected?: number;
            /** @description Items that were ignored without error, by reason; absent if there are none. */
            skipped?: {
                [key: string]: number;
            };
            /**
             * Format: uint64
             * @description The current version of a dashboard that has changed.
             */
            version?: number | null;
        };
        /** @description The exception that was raised. */
        ErrorException: {
            /** @description `file:12 in function`, the newest frame first. */
            backtrace: string[];
            message: string | null;
            /** @description Null if only a message was sent. */
            type: string | null;
        };
        /** @description A filter of errors; all errors when empty. */
        ErrorFilter: {
            assignee?: string | null;
            environment?: string | null;
            from?: string | null;
            /** @enum {string|null} */
            level?: "warning" | "error" | "fatal" | null;
            release?: string | null;
            search?: string | null;
            since?: string | null;
            /** @enum {string|null} */
            status?: "unresolved" | "resolved" | "ignored" | null;
            tags?: {
                [key: string]: string;
            } | null;
            to?: string | null;
        };
        /** @description An error group as in lists. */
        ErrorGroup: {
            /** @description Null if unassigned. */
            assignee: string | null;
            /** Format: date-time */
            first_seen: string;
            id: string;
            /** Format: date-time */
            last_seen: string;
            /** @description warning, error or fatal */
            level: string;
            /** Format: uint64 */
            occurrences: number;
            /** @description Present in lists with the parameter `series`. */
            series?: components["schemas"]["ErrorSparkline"] | null;
            /** @description unresolved, resolved or ignored */
            status: string;
            /** @description The type and the first line of the message of the newest occurrence. */
            title: string;
            /**
             * Format: uint64
             * @description Exact up to 1000, then estimated by HyperLogLog.
             */
            users_affected: number;
        };
        /** @description An error group with its newest occurrence. */
        ErrorGroupDetail: {
            /** @description Null if unassigned. */
            assignee: string | null;
            /** @description Where the error occurs. */
            culprit: string | null;
            /** @description Null if the newest occurrence has expired. */
            exception: components["schemas"]["ErrorException"] | null;
            /** Format: date-time */
            first_seen: string;
            id: string;
            /** Format: date-time */
            ignored_at: string | null;
            /**
             * Format: date-time
             * @description Null if the error is not ignored, or ignored indefinitely.
             */
            ignored_until: string | null;
            /** Format: date-time */
            last_seen: string;
            /** @description Null if it has expired. */
            latest_event: components["schemas"]["ErrorOccurrence"] | null;
            /** @description warning, error or fatal */
            level: string;
            /** @description Ids of errors that were merged into this one. */
            merged: string[];
            /**
             * @description The id of this error if the requested id is that of an error that was merged into it; null
             *     otherwise.
             */
            merged_into: string | null;
            note: string | null;
            /** Format: uint64 */
            occurrences: number;
            platform: string | null;
            reason: string | null;
            /**
             * Format: date-time
             * @description When the error occurred again after it was resolved or its ignore had expired.
             */
            regressed_at: string | null;
            /** Format: date-time */
            resolved_at: string | null;
            /** @description Present in lists with the parameter `series`. */
            series?: components["schemas"]["ErrorSparkline"] | null;
            /**
             * @description The lines of synced repositories that the frames of the newest occurrence are about, the
             *     newest frame first.
             */
            source: components["schemas"]["ErrorSource"][];
            /** @description unresolved, resolved or ignored */
            status: string;
            /** @description The type and the first line of the message of the newest occurrence. */
            title: string;
            /**
             * Format: uint64
             * @description Exact up to 1000, then estimated by HyperLogLog.
             */
            users_affected: number;
        };
        ErrorGroupDetailData: {
            data: components["schemas"]["ErrorGroupDetail"];
        };
        /** @description `{"data": […], "meta": {…}}` */
        ErrorGroupPage: {
            /** @description The items of the page. */
            data: components["schemas"]["ErrorGroup"][];
            /** @description The position of the page in the list. */
            meta: components["schemas"]["PageMeta"];
        };
        /** @description An error group with its state. */
        ErrorGroupState: {
            /** @description Null if unassigned. */
            assignee: string | null;
            /** Format: date-time */
            first_seen: string;
            id: string;
            /** Format: date-time */
            ignored_at: string | null;
            /**
             * Format: date-time
             * @description Null if the error is not ignored, or ignored indefinitely.
             */
            ignored_until: string | null;
            /** Format: date-time */
            last_seen: string;
            /** @description warning, error or fatal */
            level: string;
            note: string | null;
            /** Format: uint64 */
            occurrences: number;
            reason: string | null;
            /**
             * Format: date-time
             * @description When the error occurred again after it was resolved or its ignore had expired.
             */
            regressed_at: string | null;
            /** Format: date-time */
            resolved_at: string | null;
            /** @description Present in lists with the parameter `series`. */
            series?: components["schemas"]["ErrorSparkline"] | null;
            /** @description unresolved, resolved or ignored */
            status: string;
            /** @description The type and the first line of the message of the newest occurrence. */
            title: string;
            /**
             * Format: uint64
             * @description Exact up to 1000, then estimated by HyperLogLog.
             */
            users_affected: number;
        };
        ErrorGroupStateData: {
            data: components["schemas"]["ErrorGroupState"];
        };
        /** @description A request to ignore an error. */
        ErrorIgnoreInput: {
            /** @description `forever`, or a duration such as 30m, 24h, 7d or 2w. Default: `forever`. */
            duration?: string | null;
            reason?: string | null;
        };
        /** @description The error. */
        ErrorInner: {
            /** @description The error code, which is stable. */
            code: string;
            /** @description The location of the error in the request. */
            details?: components["schemas"]["ErrorDetails"] | null;
            /** @description A description for people. */
            message: string;
        };
        /** @description Ids of errors to merge into another one. */
        ErrorMergeInput: {
            ids: string[];
        };
        /** @description One occurrence. */
        ErrorOccurrence: {
            /** @description All stored properties of the occurrence. */
            details?: unknown;
            environment: string | null;
            /** @description The id that the sender gave it. */
            event_id: string | null;
            exception: components["schemas"]["ErrorException"];
            id: string;
            /** @description The level as sent: debug, info, warning, error or fatal. */
            level: string | null;
            release: string | null;
            tags: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            timestamp: string;
            /** @description `id`, and the other fields that were sent of the user. */
            user: unknown;
        };
        /** @description An occurrence and its neighbours. */
        ErrorOccurrenceInOrder: {
            /** @description All stored properties of the occurrence. */
            details?: unknown;
            environment: string | null;
            /** @description The id that the sender gave it. */
            event_id: string | null;
            exception: components["schemas"]["ErrorException"];
            id: string;
            /** @description The level as sent: debug, info, warning, error or fatal. */
            level: string | null;
            /** @description The id of the occurrence after it; null if it is the newest. */
            next_id: string | null;
            /** @description The id of the occurrence before it in time; null if it is the first one that is kept. */
            previous_id: string | null;
            release: string | null;
            tags: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            timestamp: string;
            /** @description `id`, and the other fields that were sent of the user. */
            user: unknown;
        };
        ErrorOccurrenceInOrderData: {
            data: components["schemas"]["ErrorOccurrenceInOrder"];
        };
        /** @description `{"data": […], "meta": {…}}` */
        ErrorOccurrencePage: {
            /** @description The items of the page. */
            data: components["schemas"]["ErrorOccurrence"][];
            /** @description The position of the page in the list. */
            meta: components["schemas"]["PageMeta"];
        };
        /** @description The exception that was raised. */
        ErrorReportException: {
            /** @description `file:12 in function`, the newest frame first. */
            backtrace?: string[] | null;
            message?: string | null;
            module?: string | null;
            /** @description Required, unless there is a message. */
            type?: string | null;
        };
        /**
         * @description An error report of a program. Parsed by hand; this type only describes it. Unknown fields are
         *     ignored.
         */
        ErrorReportInput: {
            environment?: string | null;
            /** @description Required, unless there is a message. */
            exception?: components["schemas"]["ErrorReportException"] | null;
            /**
             * @description Determines the group instead of the exception. `{{ default }}` is replaced by the hash that
             *     the exception would have; `{{ transaction }}`, `{{ error.type }}`, `{{ tags.x }}` and
             *     Sentry's other variables are replaced by their values.
             */
            fingerprint?: string[] | null;
            /**
             * @description fatal, error, warning, info or debug; `error` by default.
             * @enum {string|null}
             */
            level?: "fatal" | "error" | "warning" | "info" | "debug" | null;
            message?: string | null;
            release?: string | null;
            server_name?: string | null;
            /** @description String values by tag key. */
            tags?: {
                [key: string]: string;
            } | null;
            /** @description When the error occurred. Default: the time of receipt. */
            timestamp?: string | null;
            transaction?: string | null;
            user?: components["schemas"]["ErrorReportUser"] | null;
        };
        /** @description The user who was affected. */
        ErrorReportUser: {
            email?: string | number | null;
            id?: string | number | null;
            ip_address?: string | number | null;
            username?: string | number | null;
        };
        /** @description A request to resolve an error. */
        ErrorResolveInput: {
            note?: string | null;
        };
        /** @description The occurrences of an error over time. */
        ErrorSeries: {
            id: string;
            interval: string;
            series: components["schemas"]["ErrorCount"][];
            /** Format: uint64 */
            total: number;
        };
        ErrorSeriesData: {
            data: components["schemas"]["ErrorSeries"];
        };
        /** @description Lines of a repository that a frame is about. */
        ErrorSource: {
            /** @description The commit that the lines are of. */
            commit: string;
            file_path: string;
            /**
             * Format: uint
             * @description The position of the frame in `exception.backtrace`.
             */
            frame: number;
            /**
             * Format: uint32
             * @description The line of the frame.
             */
            line: number;
            /** Format: uint32 */
            line_start: number;
            /** @description The id of the repository. */
            repository: string;
            /** @description The lines around it, exactly as in the commit unless `truncated`. */
            snippet: string;
            /**
             * @description Whether lines are cut: those over 8 KiB, and all once the snippets have 512 KiB together.
             *     What is left of a line ends with `…`.
             */
            truncated: boolean;
        };
        /** @description The occurrences of an error over time, for a small chart. */
        ErrorSparkline: {
            /** @description The occurrences in each bucket; the last one contains now. */
            counts: number[];
            /**
             * Format: date-time
             * @description The start of the first bucket.
             */
            from: string;
            /**
             * Format: int64
             * @description The width of the buckets.
             */
            interval_seconds: number;
        };
        /** @description The values of a tag. */
        ErrorTag: {
            /**
             * Format: uint
             * @description The number of different values; null if there are too many.
             */
            distinct: number | null;
            key: string;
            /**
             * Format: uint64
             * @description The occurrences that have the tag; null if it has too many different values to count them.
             */
            occurrences: number | null;
            /**
             * @description The parameter of the list of errors that selects by this tag: `environment`, `release` or
             *     `tags[key]`.
             */
            parameter: string;
            /** @description The most frequent values. */
            values: components["schemas"]["ErrorTagValue"][];
        };
        /** @description A value of a tag. */
        ErrorTagValue: {
            /** Format: uint64 */
            count: number;
            /**
             * Format: double
             * @description The part of the occurrences with the tag that have this value, from 0 to 1.
             */
            share: number;
            value: string;
        };
        /** @description The values that the occurrences of an error have in their tags. */
        ErrorTags: {
            id: string;
            /**
             * Format: uint64
             * @description The occurrences in the range.
             */
            occurrences: number;
            /**
             * Format: uint
             * @description The number of the newest occurrences from which the tags are known. Without `key`, tags that
             *     only earlier occurrences have are left out.
             */
            sampled: number;
            /** @description In the order of their keys. */
            tags: components["schemas"]["ErrorTag"][];
            /**
             * Format: uint
             * @description The number of tags that are left out because there are too many.
             */
            tags_left_out: number;
        };
        ErrorTagsData: {
            data: components["schemas"]["ErrorTags"];
        };
        /** @description An escalation policy. */
        EscalationPolicy: {
            /** Format: date-time */
            created_at: string;
            description: string | null;
            enabled: boolean;
            id: string;
            /** Format: uint32 */
            max_repeats: number | null;
            name: string;
            repeat: boolean;
            /** Format: uint32 */
            repeat_after_minutes: number | null;
            /** @description Sorted by delay. */
            steps: components["schemas"]["EscalationStep"][];
            /** Format: uint */
            steps_count: number;
        };
        EscalationPolicyData: {
            data: components["schemas"]["EscalationPolicy"];
        };
        /** @description A new escalation policy. */
        EscalationPolicyInput: {
            description?: string | null;
            /** @description Defaults to true. */
            enabled?: boolean | null;
            /**
             * Format: uint32
             * @description Maximum number of cycles after the first. Defaults to 3 if `repeat`.
             */
            max_repeats?: number | null;
            name: string;
            /** @description Whether the cycle of steps is repeated. Defaults to false. */
            repeat?: boolean | null;
            /**
             * Format: uint32
             * @description Minutes from the last step of a cycle to the start of the next one. Required if `repeat`.
             */
            repeat_after_minutes?: number | null;
            steps: components["schemas"]["EscalationStepInput"][];
        };
        /** @description A change of an escalation policy; absent fields are unchanged. */
        EscalationPolicyPatch: {
            /** @description `null` removes it. */
            description?: string | null;
            /** @description `null` is the default, true. */
            enabled?: boolean | null;
            /** Format: uint32 */
            max_repeats?: number | null;
            name?: string;
            /** @description `null` is the default, false. */
            repeat?: boolean | null;
            /** Format: uint32 */
            repeat_after_minutes?: number | null;
            /** @description Replaces all steps. */
            steps?: components["schemas"]["EscalationStepInput"][] | null;
        };
        /** @description An escalation policy in a list. */
        EscalationPolicySummary: {
            /** Format: date-time */
            created_at: string;
            enabled: boolean;
            id: string;
            name: string;
            repeat: boolean;
            /** Format: uint32 */
            repeat_after_minutes: number | null;
            /** Format: uint */
            steps_count: number;
        };
        /** @description `{"data": […], "meta": {…}}` */
        EscalationPolicySummaryPage: {
            /** @description The items of the page. */
            data: components["schemas"]["EscalationPolicySummary"][];
            /** @description The position of the page in the list. */
            meta: components["schemas"]["PageMeta"];
        };
        /** @description A step of an escalation policy. */
        EscalationStep: {
            channel_id: string;
            channel_name: string | null;
            /** Format: uint32 */
            delay_minutes: number;
        };
        /** @description A step of an escalation policy. */
        EscalationStepInput: {
            channel_id: string;
            /** @description Ignored, so that a policy can be sent back as it was returned. */
            channel_name?: string | null;
            /**
             * Format: uint32
             * @description Minutes since the start of the cycle. Defaults to 0.
             */
            delay_minutes?: number | null;
        };
        EventBatchInput: {
            events: components["schemas"]["EventInput"][];
        };
        EventCount: {
            data: {
                /** @description With `distinct`: the number of distinct values. */
                distinct?: number;
                /** @description With `distinct` and `group_by`: the number of distinct values in each group. */
                distinct_groups?: {
                    [key: string]: number;
                };
                /** @description With `group_by`: the count of each group, under the value of the tag or field. */
                groups?: {
                    [key: string]: number;
                };
                /** @description With `group_by` and `interval`: one series for each group, under its value. */
                series?: {
                    count: number;
                    /** @description With `distinct`: the number of distinct values. */
                    distinct?: number;
                    /** Format: date-time */
                    timestamp: string;
                }[] | {
                    [key: string]: {
                        count: number;
                        /** @description With `distinct`: the number of distinct values. */
                        distinct?: number;
                        /** Format: date-time */
                        timestamp: string;
                    }[];
                };
                total: number;
            };
        };
        /** @description A field of events. */
        EventFieldSummary: {
            /**
             * Format: uint64
             * @description The number of events that have it, of those that were read.
             */
            count: number;
            /** @description Its value in the newest event that has it, up to 200 characters. */
            example: string;
            /** @description `user_id`, `value`, `tags.<key>`, or the path of a property: `properties.cart.total`. */
            field: string;
            /**
             * @description The type of most of its values.
             * @enum {string}
             */
            type: "string" | "number" | "boolean" | "array" | "null";
            /** @description The number of values of each type. */
            types: {
                [key: string]: number;
            };
        };
        /** @description The fields of events. */
        EventFields: {
            /** @description Those of most events first. */
            data: components["schemas"]["EventFieldSummary"][];
            meta: components["schemas"]["EventFieldsMeta"];
        };
        /** @description What a list of fields is based on. */
        EventFieldsMeta: {
            /**
             * Format: uint64
             * @description The number of events that match.
             */
            events_matched: number;
            /**
             * Format: uint64
             * @description The number of events that were read: the newest, at most 1000.
             */
            events_read: number;
            /**
             * Format: uint64
             * @description The number of values that are not listed: of fields beyond 500, or with a key that is empty
             *     or contains a dot.
             */
            left_out: number;
        };
        /** @description The users of a funnel. */
        EventFunnel: {
            /** @description The part of the users of the first step that took all steps; null if there are none. */
            conversion: number | null;
            /**
             * Format: uint64
             * @description The number of events of all steps.
             */
            events: number;
            /** Format: date-time */
            from: string;
            /**
             * Format: int64
             * @description The median time from the first to the last step, in milliseconds; null if no user took all
             *     of them.
             */
            median_ms: number | null;
            steps: components["schemas"]["EventFunnelStep"][];
            /** Format: date-time */
            to: string;
        };
        EventFunnelData: {
            data: components["schemas"]["EventFunnel"];
        };
        /** @description A funnel. */
        EventFunnelInput: {
            /** @description Start of the range, inclusive. Defaults to 24 hours before `to`. */
            from?: string | null;
            /** @description The steps, in their order: 1 to 10. */
            steps: components["schemas"]["EventFunnelStepInput"][];
            /** @description End of the range, exclusive. Defaults to now. */
            to?: string | null;
            /**
             * @description The time from the first step within which the others must follow: `<n>m`, `<n>h`, `<n>d` or
             *     `<n>w`, at most 90 days. Defaults to 24h.
             */
            window?: string | null;
        };
        /** @description The users of one step. */
        EventFunnelStep: {
            /** @description The part of the users of the first step; null if there are none. */
            from_first: number | null;
            /** @description The part of the users of the step before; null for the first step, and if there are none. */
            from_previous: number | null;
            /**
             * Format: int64
             * @description The median time from the step before, in milliseconds; null for the first step, and without
             *     users.
             */
            median_ms: number | null;
            name: string;
            /**
             * Format: uint64
             * @description The number of users that took this step, after all those before it and within the window.
             */
            users: number;
        };
        /** @description A step of a funnel. */
        EventFunnelStepInput: {
            /** @description The name of the events, or a prefix of it followed by `*`. */
            name: string;
            /** @description Filters by tag key: `v` (equal), `a,b` (one of), `!v` (not equal), `v*` (prefix). */
            tags?: {
                [key: string]: string;
            } | null;
            /** @description Only events of this user. */
            user_id?: string | null;
        };
        EventInput: {
            /** @example order.paid */
            name: string;
            /**
             * @description Any JSON object of up to 64 KiB and 64 levels. Key order is preserved; white space and the notation of numbers are not.
             * @example {
             *       "cart": {
             *         "total": 49.9
             *       }
             *     }
             */
            properties?: Record<string, unknown> | null;
            /**
             * @example {
             *       "region": "eu"
             *     }
             */
            tags?: {
                [key: string]: string;
            } | null;
            /** @description Default: the time of receipt. From 1970 to 24 hours in the future. */
            timestamp?: string | null;
            /**
             * @description A number is stored as its decimal string.
             * @example u-1
             */
            user_id?: string | number | null;
            /**
             * @description Finite.
             * @example 49.9
             */
            value?: number | null;
        };
        EventList: {
            data: {
                /** @example evt_01KDYH0GVE0000000000000001 */
                id: string;
                name: string;
                properties: Record<string, unknown>;
                tags: {
                    [key: string]: string;
                };
                /** Format: date-time */
                timestamp: string;
                user_id: string | null;
                value: number | null;
            }[];
            meta: {
                limit: number;
                /** @description Absent on the last page. */
                next_cursor?: string;
                offset: number;
                /** @description The exact number of matching events, independent of the page. */
                total: number;
            };
        };
        /** @description Statistics of a number of the matching events. */
        EventStats: {
            avg: number | null;
            /**
             * Format: uint64
             * @description The number of events that have the field; if it is 0, the other fields are null.
             */
            count: number;
            max: number | null;
            min: number | null;
            p50: number | null;
            p95: number | null;
            p99: number | null;
            sum: number | null;
        };
        EventStatsData: {
            data: components["schemas"]["EventStats"];
        };
        EventTail: {
            /** @description In the order in which they were stored. */
            data: {
                /** @example evt_01KDYH0GVE0000000000000001 */
                id: string;
                name: string;
                properties: Record<string, unknown>;
                tags: {
                    [key: string]: string;
                };
                /** Format: date-time */
                timestamp: string;
                user_id: string | null;
                value: number | null;
            }[];
            meta: {
                /** @description The value of `after` for the next request. */
                cursor: string;
                /** @description The number of events, matching or not, that were stored after the cursor but cannot be followed any more; lists contain them. null if the server has been restarted since. */
                missed: number | null;
            };
        };
        /** @description A value of a field. */
        EventValue: {
            /**
             * Format: uint64
             * @description The number of events that have it, of those that were read.
             */
            count: number;
            /** @description A string as it is, a number or boolean as JSON. */
            value: string;
        };
        /** @description The most frequent values of a field. */
        EventValues: {
            /** @description The most frequent first, equal ones by value. */
            data: components["schemas"]["EventValue"][];
            meta: components["schemas"]["EventValuesMeta"];
        };
        /** @description What a list of values is based on. */
        EventValuesMeta: {
            /**
             * Format: uint64
             * @description The number of events that match.
             */
            events_matched: number;
            /**
             * Format: uint64
             * @description The number of events that were read: all that match, or the newest 10000 at most.
             */
            events_read: number;
            /** Format: uint */
            limit: number;
            /**
             * Format: uint
             * @description The number of distinct values found that match `search`.
             */
            total: number;
        };
        /** @description One expected status, or several. */
        ExpectedStatus: components["schemas"]["StatusOrRange"] | components["schemas"]["StatusOrRange"][];
        /** @description What is to be explained. */
        ExplainInput: {
            /** @description The path of the file. */
            file: string;
            /** @description The lines, both included. Without them the whole file is explained. */
            lines?: components["schemas"]["LineRangeInput"] | null;
            /** @description The id of the repository. */
            repository: string;
        };
        /** @description The new expiry of a reservation. */
        ExtendedJob: {
            /** Format: date-time */
            expires_at: string;
            job_id: string;
        };
        /** @description The state of a job after a failed attempt. */
        FailedJob: {
            job_id: string;
            /**
             * Format: date-time
             * @description When the job is retried; null if it is dead.
             */
            next_run_at: string | null;
            /** @description `retrying` or `dead`. */
            status: string;
        };
        /** @description A fetched job, which the worker now holds. */
        FetchedJob: {
            /** @description The arguments as sent. */
            arguments: Record<string, unknown>;
            /**
             * Format: uint16
             * @description The number of this attempt, from 1.
             */
            attempt: number;
            class_name: string;
            /**
             * Format: date-time
             * @description When the reservation expires.
             */
            expires_at: string;
            job_id: string;
            queue: string;
            /** @description The token that proves that the worker holds the job. */
            reservation_token: string;
        };
        /** @description The fetched jobs, which the worker now holds. */
        FetchedJobs: {
            jobs: components["schemas"]["FetchedJob"][];
        };
        /** @description An alert as it is listed. */
        GettableAlert: {
            annotations: {
                [key: string]: string;
            };
            /** Format: date-time */
            endsAt: string;
            /** @description The hash of the labels, 16 hexadecimal digits. */
            fingerprint: string;
            generatorURL?: string;
            labels: {
                [key: string]: string;
            };
            receivers: components["schemas"]["AlertmanagerReceiver"][];
            /** Format: date-time */
            startsAt: string;
            status: components["schemas"]["AlertmanagerAlertStatus"];
            /** Format: date-time */
            updatedAt: string;
        };
        /**
         * @description The drawing style of a graph.
         * @enum {string}
         */
        GraphStyle: "line" | "area" | "bar";
        /** @description The response to a heartbeat. */
        HeardWorker: {
            /** @description The jobs whose reservation it lost since its last contact; finishing them has no effect. */
            lost_jobs: string[];
            /** @description The status the worker must comply with: `active`, `quiet` or `stopping`. */
            status: string;
        };
        /** @description A report of a heartbeat. */
        HeartbeatInput: {
            /**
             * Format: uint32
             * @description How long the work took, in milliseconds.
             */
            duration_ms?: number | null;
            /** @description Why it is down. */
            message?: string | null;
            /** @description `up` or `down`. Defaults to `up`. */
            status?: components["schemas"]["HeartbeatStatus"] | null;
        };
        /**
         * @description What a heartbeat reports.
         * @enum {string}
         */
        HeartbeatStatus: "up" | "down";
        /** @description An axis of a heatmap. */
        HeatmapAxis: "hour_of_day" | "day_of_week";
        /** @description An incident. */
        Incident: {
            /** Format: date-time */
            created_at: string;
            created_by: string;
            id: string;
            impact: components["schemas"]["IncidentImpact"];
            /** @description The ids of the monitors that it concerns; empty if it concerns none in particular. */
            monitors: string[];
            page_id: string;
            /** Format: date-time */
            resolved_at: string | null;
            status: components["schemas"]["IncidentStatus"];
            title: string;
            /** Format: date-time */
            updated_at: string;
            /** @description Oldest first. */
            updates: components["schemas"]["IncidentUpdate"][];
        };
        /**
         * @description How severe an incident is.
         * @enum {string}
         */
        IncidentImpact: "minor" | "major" | "critical";
        /** @description A new incident. */
        IncidentInput: {
            /** @description How severe it is. Defaults to `minor`. */
            impact?: components["schemas"]["IncidentImpact"] | null;
            /** @description What is known: the first update. */
            message: string;
            /** @description The monitors of the page that it concerns. Defaults to none in particular. */
            monitors?: string[] | null;
            /** @description Whether the subscribers of the page are notified. Defaults to false. */
            notify_subscribers?: boolean | null;
            /** @description Defaults to `investigating`. */
            status?: components["schemas"]["IncidentStatus"] | null;
            title: string;
        };
        /** @description The incidents of a status page, newest first. */
        IncidentList: {
            incidents: components["schemas"]["IncidentSummary"][];
        };
        /** @description A change of an incident; absent fields are unchanged. A status or a message adds an update. */
        IncidentPatch: {
            /** @description `null` is the default, `minor`. */
            impact?: components["schemas"]["IncidentImpact"] | null;
            message?: string | null;
            /** @description `null` is the default, none in particular. */
            monitors?: string[] | null;
            /**
             * @description Whether the subscribers of the page are notified of the update, which there must be.
             *     Defaults to false.
             */
            notify_subscribers?: boolean | null;
            /** @description A resolved incident stays resolved. */
            status?: components["schemas"]["IncidentStatus"] | null;
            title?: string;
        };
        /**
         * @description How far an incident is.
         * @enum {string}
         */
        IncidentStatus: "investigating" | "identified" | "monitoring" | "resolved";
        /** @description An incident in a list, which is without updates. */
        IncidentSummary: {
            /** Format: date-time */
            created_at: string;
            created_by: string;
            id: string;
            impact: components["schemas"]["IncidentImpact"];
            /** @description The ids of the monitors that it concerns; empty if it concerns none in particular. */
            monitors: string[];
            /** Format: date-time */
            resolved_at: string | null;
            status: components["schemas"]["IncidentStatus"];
            title: string;
            /** Format: date-time */
            updated_at: string;
        };
        /** @description What was known of an incident at some time. */
        IncidentUpdate: {
            /** Format: date-time */
            at: string;
            /** @description Null if only the status changed. */
            message: string | null;
            status: components["schemas"]["IncidentStatus"];
        };
        /** @description The health of the server. */
        InfluxHealth: {
            message: string;
            name: string;
            /** @description Always `pass`: a server that cannot serve requests does not respond at all. */
            status: string;
            version: string;
        };
        /** @description A rejected item of a batch. */
        ItemError: {
            code: string;
            /** Format: uint */
            index: number;
            message: string;
        };
        /** @description A job with its failures. */
        Job: {
            /** @description The arguments as sent. */
            arguments: Record<string, unknown>;
            /**
             * Format: uint16
             * @description The number of attempts started.
             */
            attempts: number;
            class_name: string;
            /** @description The id of the dead job, if the job is dead. */
            dead_job_id: string | null;
            /** Format: date-time */
            enqueued_at: string;
            /**
             * Format: date-time
             * @description When the reservation expires.
             */
            expires_at: string | null;
            /** @description The newest failures, oldest first. */
            failures: components["schemas"]["JobFailure"][];
            /** Format: date-time */
            finished_at: string | null;
            id: string;
            /** Format: uint16 */
            max_attempts: number;
            queue: string;
            /**
             * Format: date-time
             * @description When the job is due; null unless it is scheduled or retrying.
             */
            run_at: string | null;
            /** Format: date-time */
            started_at: string | null;
            /** @description `ready`, `scheduled`, `running`, `retrying`, `completed` or `dead`. */
            status: string;
            /** @description The worker that holds the job. */
            worker_id: string | null;
        };
        /** @description The result of a batch. */
        JobBatchAnswer: {
            /** Format: uint */
            accepted: number;
            /** @description The first 50 rejected jobs; absent if there are none. */
            errors?: components["schemas"]["RejectedJob"][];
            /** @description The job ids in the order of the batch; null for a rejected job. */
            job_ids: (string | null)[];
            /** Format: uint */
            rejected: number;
        };
        /** @description Jobs to be enqueued atomically. */
        JobBatchInput: {
            /** @description At most 1000 jobs. */
            jobs: components["schemas"]["JobInput"][];
        };
        /** @description An extension of a reservation. */
        JobExtendInput: {
            /** @description The token returned by the fetch. */
            reservation_token: string;
            /**
             * Format: int64
             * @description The new duration of the reservation from now, in seconds, from 1 to 86400.
             */
            seconds: number;
        };
        /** @description A failed attempt, as reported by the worker. */
        JobFailInput: {
            /** @description At most 50 lines of 1000 characters. */
            backtrace?: string[] | null;
            /** @description At most 100 characters; longer values are truncated, as are those below. */
            error_class?: string | null;
            /** @description At most 10000 characters. */
            error_message?: string | null;
            /** @description The token returned by the fetch. */
            reservation_token: string;
        };
        /** @description A failed attempt. */
        JobFailure: {
            /** Format: uint16 */
            attempt: number;
            error_class: string;
            error_message: string;
            /** Format: date-time */
            failed_at: string;
        };
        /** @description The parameters of a fetch. */
        JobFetchInput: {
            /**
             * Format: int64
             * @description The maximum number of jobs, from 1 to 100; defaults to 1.
             */
            limit?: number | null;
            /**
             * Format: double
             * @description How long to wait for the first job, in seconds, up to 30; defaults to 0.
             */
            wait_seconds?: number | null;
        };
        /** @description A job to be enqueued. Unknown fields are ignored. */
        JobInput: {
            /** @description The arguments: an object of at most 64 KiB; defaults to an empty object. */
            arguments?: Record<string, unknown> | null;
            /** @description The class of the job, which determines what the worker runs. */
            class_name: string;
            /**
             * Format: int64
             * @description The maximum number of attempts, from 1 to 1000; defaults to 25.
             */
            max_attempts?: number | null;
            /** @description The queue; defaults to `default`. */
            queue?: string | null;
            /** @description The earliest time to run; if absent or past, the job is ready at once. */
            run_at?: string | null;
            /**
             * Format: int64
             * @description How long a worker may hold the job, in seconds, from 1 to 86400; defaults to the server's
             *     setting.
             */
            timeout_seconds?: number | null;
            /** @description A key that no two unfinished jobs may share. */
            unique_key?: string | null;
        };
        /** @description A page of waiting and running jobs, last enqueued first. */
        JobList: {
            jobs: components["schemas"]["JobSummary"][];
            /** @description The cursor of the next page; absent on the last page. */
            next_cursor?: string | null;
        };
        /** @description A job. */
        JobSummary: {
            /** @description The arguments as sent. */
            arguments: Record<string, unknown>;
            /**
             * Format: uint16
             * @description The number of attempts started.
             */
            attempts: number;
            class_name: string;
            /** Format: date-time */
            enqueued_at: string;
            /**
             * Format: date-time
             * @description When the reservation expires.
             */
            expires_at: string | null;
            /** Format: date-time */
            finished_at: string | null;
            id: string;
            /** Format: uint16 */
            max_attempts: number;
            queue: string;
            /**
             * Format: date-time
             * @description When the job is due; null unless it is scheduled or retrying.
             */
            run_at: string | null;
            /** Format: date-time */
            started_at: string | null;
            /** @description `ready`, `scheduled`, `running`, `retrying`, `completed` or `dead`. */
            status: string;
            /** @description The worker that holds the job. */
            worker_id: string | null;
        };
        /** @description The proof that a worker holds a job. */
        JobTokenInput: {
            /** @description The token returned by the fetch. */
            reservation_token: string;
        };
        /** @description A key without its secret. */
        Key: {
            /** Format: date-time */
            created_at: string;
            id: string;
            /** Format: date-time */
            last_used_at: string | null;
            /** @description Quotas that differ from the server's. */
            limits: {
                [key: string]: components["schemas"]["Quota"];
            };
            name: string;
            public_ingest: boolean;
            /** Format: date-time */
            revoked_at: string | null;
            scopes: string[];
            user: string;
        };
        KeyData: {
            data: components["schemas"]["Key"];
        };
        /** @description The properties of a new key. */
        KeyInput: {
            /** @description Quotas that differ from the server's, by request class. */
            limits?: {
                [key: string]: components["schemas"]["Quota"];
            } | null;
            /** @description The purpose of the key. */
            name: string;
            /**
             * @description Whether the key may be published, for example in a web page. Such a key can only send
             *     telemetry and errors.
             */
            public_ingest?: boolean | null;
            /** @description The operations that the key permits. */
            scopes: ("ingest" | "work" | "read" | "write" | "admin")[];
            /** @description The email address of the person or program that uses the key. */
            user: string;
        };
        /** @description `{"data": […], "meta": {…}}` */
        KeyPage: {
            /** @description The items of the page. */
            data: components["schemas"]["Key"][];
            /** @description The position of the page in the list. */
            meta: components["schemas"]["PageMeta"];
        };
        /** @description Lines of a file, both included, from 1. */
        LineRangeInput: {
            /** Format: uint32 */
            end?: number;
            /** Format: uint32 */
            start?: number;
        };
        /** @description A maintenance window. */
        MaintenanceWindow: {
            active: boolean;
            /** Format: date-time */
            created_at: string;
            created_by: string;
            /** @description Whether the window is active and now is within it. */
            currently_active: boolean;
            description: string | null;
            /** Format: date-time */
            ends_at: string;
            id: string;
            name: string;
            /**
             * Format: date-time
             * @description When the window begins next; null if it does not.
             */
            next_starts_at: string | null;
            recurrence_rule: string | null;
            recurring: boolean;
            /** @description The muted rules; null means all rules. Empty, so that nothing is muted, if all were deleted. */
            rule_ids: string[] | null;
            services: string[];
            /** Format: date-time */
            starts_at: string;
            timezone: string;
        };
        MaintenanceWindowData: {
            data: components["schemas"]["MaintenanceWindow"];
        };
        /** @description A new maintenance window. */
        MaintenanceWindowInput: {
            /** @description Whether the window mutes anything. Defaults to true. */
            active?: boolean | null;
            description?: string | null;
            /**
             * Format: date-time
             * @description Must be after `starts_at`.
             */
            ends_at: string;
            name: string;
            /** @description An RRULE of RFC 5545, such as `FREQ=WEEKLY;BYDAY=SU`. Required if `recurring`. */
            recurrence_rule?: string | null;
            /** @description Whether the window recurs. Defaults to false. */
            recurring?: boolean | null;
            /** @description The muted rules; all rules if absent or null. */
            rule_ids?: string[] | null;
            /** @description Names of affected services, for the reader. */
            services?: string[] | null;
            /**
             * Format: date-time
             * @description The start, from which a recurrence counts.
             */
            starts_at: string;
            /** @description The zone on whose wall clock the window recurs. Defaults to `UTC`. */
            timezone?: string | null;
        };
        /** @description A change of a maintenance window; absent fields are unchanged. */
        MaintenanceWindowPatch: {
            /** @description `null` is the default, true. */
            active?: boolean | null;
            /** @description `null` removes it. */
            description?: string | null;
            /** Format: date-time */
            ends_at?: string;
            name?: string;
            /** @description `null` removes it, together with `recurring` as false. */
            recurrence_rule?: string | null;
            /** @description `null` is the default, false. A window that no longer recurs loses its rule. */
            recurring?: boolean | null;
            /** @description `null` mutes all rules. */
            rule_ids?: string[] | null;
            /** @description `null` removes all. */
            services?: string[] | null;
            /** Format: date-time */
            starts_at?: string;
            /** @description `null` is the default, `UTC`. */
            timezone?: string | null;
        };
        /** @description A maintenance window in a list. */
        MaintenanceWindowSummary: {
            active: boolean;
            /** Format: date-time */
            created_at: string;
            /** @description Whether the window is active and now is within it. */
            currently_active: boolean;
            /** Format: date-time */
            ends_at: string;
            id: string;
            name: string;
            recurring: boolean;
            /** Format: date-time */
            starts_at: string;
        };
        /** @description `{"data": […], "meta": {…}}` */
        MaintenanceWindowSummaryPage: {
            /** @description The items of the page. */
            data: components["schemas"]["MaintenanceWindowSummary"][];
            /** @description The position of the page in the list. */
            meta: components["schemas"]["PageMeta"];
        };
        /** @description The result of a compaction. */
        Merged: {
            /** Format: uint64 */
            blocks_read: number;
            /** Format: uint64 */
            blocks_written: number;
            /** Format: uint64 */
            bytes_read: number;
            /** Format: uint64 */
            bytes_written: number;
            /** Format: uint64 */
            windows: number;
        };
        MergedData: {
            data: components["schemas"]["Merged"];
        };
        /** @description A metric definition. */
        Metric: {
            /** Format: date-time */
            first_seen: string;
            /** Format: date-time */
            last_seen: string;
            name: string;
            /**
             * Format: uint64
             * @description The number of its series. Only in a list, and only with the parameter `search`.
             */
            series?: number | null;
            /** @description The tag keys of the metric's series. */
            tags: string[];
            type: string;
        };
        MetricBatchInput: {
            metrics: components["schemas"]["MetricInput"][];
        };
        /** @description A metric definition with its number of samples. */
        MetricDetail: {
            /**
             * Format: uint64
             * @description The number of samples stored, including expired ones. A gauge sample replaced by another of
             *     the same series and timestamp is not counted: at once if both are in the head, otherwise
             *     once their time window is compacted.
             */
            data_points: number;
            /** Format: date-time */
            first_seen: string;
            /** Format: date-time */
            last_seen: string;
            name: string;
            /**
             * Format: uint64
             * @description The number of its series. Only in a list, and only with the parameter `search`.
             */
            series?: number | null;
            /** @description The tag keys of the metric's series. */
            tags: string[];
            type: string;
        };
        MetricDetailData: {
            data: components["schemas"]["MetricDetail"];
        };
        MetricInput: components["schemas"]["NumberMetricInput"] | components["schemas"]["SetMetricInput"];
        /** @description `{"data": […], "meta": {…}}` */
        MetricPage: {
            /** @description The items of the page. */
            data: components["schemas"]["Metric"][];
            /** @description The position of the page in the list. */
            meta: components["schemas"]["PageMeta"];
        };
        MetricQueryAnswer: {
            /** @description Present with one aggregation, unless `format=columns`. */
            aggregation?: string;
            /** @description With `format=columns`. */
            aggregations?: string[];
            groups?: {
                [key: string]: ({
                    /** Format: date-time */
                    timestamp: string;
                    /** @description Present with one aggregation. */
                    value?: number | null;
                } & {
                    [key: string]: number | null;
                })[];
            } | {
                tags: {
                    [key: string]: string;
                };
                /** @description For each aggregation, one value for each of `times`; null where a bucket is empty. */
                values: {
                    [key: string]: (number | null)[];
                };
            }[];
            interval: string;
            /** @description Present with `top` and with `format=columns`, and if finer data has expired, so that parts of the response are coarser than `interval`. */
            meta?: {
                /** @description The number of groups that have data in the range. With `top` or `format=columns`. */
                groups?: number;
                /** @description Parts of the range for which only aggregates over cells of width `interval` remain. A cell is one point at its start that aggregates all samples in it; `rate` is per second of the cell; `fill` adds no points within it. Where only cells remain, `from` and `to` of the query are rounded to whole cells. */
                resolution?: {
                    /** Format: date-time */
                    from: string;
                    /** @enum {string} */
                    interval: "1m" | "5m" | "1h" | "1d";
                    /**
                     * Format: date-time
                     * @description Exclusive.
                     */
                    to: string;
                }[];
                /** @description The number of groups in the response. With `top` or `format=columns`. */
                shown?: number;
            };
            name: string;
            series?: ({
                /** Format: date-time */
                timestamp: string;
                /** @description Present with one aggregation. */
                value?: number | null;
            } & {
                [key: string]: number | null;
            })[];
            /** @description With `format=columns`: the starts of all buckets, in milliseconds since 1970. */
            times?: number[];
            /** @description The type of the metric. With `format=columns`. */
            type?: string;
        };
        MetricQueryAnswerData: {
            data: components["schemas"]["MetricQueryAnswer"];
        };
        MetricQueryAnswerListData: {
            data: components["schemas"]["MetricQueryAnswer"][];
        };
        /** @description A monitor. Of the fields of the target, those of its type are present. */
        Monitor: {
            body?: string | null;
            body_contains?: string | null;
            /** Format: uint32 */
            certificate_warning_days?: number | null;
            /** Format: date-time */
            created_at: string;
            created_by: string;
            /** Format: uint32 */
            degraded_after_ms?: number | null;
            expected_status?: string[] | null;
            /** Format: uint32 */
            grace_seconds?: number | null;
            headers?: {
                [key: string]: string;
            } | null;
            host?: string | null;
            id: string;
            /** Format: uint32 */
            interval_seconds: number;
            last_check: components["schemas"]["MonitorCheck"] | null;
            method?: components["schemas"]["CheckMethod"] | null;
            name: string;
            paused: boolean;
            /** Format: uint16 */
            port?: number | null;
            /** Format: uint32 */
            retries: number;
            status: components["schemas"]["MonitorStatus"];
            /** @description Why it has this status; null if there is nothing to say. */
            status_reason: string | null;
            /**
             * Format: date-time
             * @description Since when it has this status.
             */
            status_since: string;
            /** Format: uint32 */
            timeout_seconds: number;
            type: components["schemas"]["MonitorType"];
            /**
             * Format: double
             * @description The share of the observed time of the last 90 days in which it was up, in percent; null if
             *     nothing was observed.
             */
            uptime_90d: number | null;
            url?: string | null;
        };
        /** @description The last check of a monitor. */
        MonitorCheck: {
            /** Format: date-time */
            at: string;
            /** Format: date-time */
            certificate_ends_at: string | null;
            /** @description Why it was not as expected; null if it was. */
            reason: string | null;
            /** Format: uint32 */
            response_ms: number | null;
            result: components["schemas"]["CheckOutcome"];
        };
        /**
         * @description How long a monitor was in each state on a day, in seconds. What is missing to the whole day was
         *     not observed.
         */
        MonitorDay: {
            /** @description As `2026-01-02`. */
            date: string;
            /** Format: double */
            degraded_seconds: number;
            /** Format: double */
            down_seconds: number;
            /** Format: double */
            maintenance_seconds: number;
            /** Format: double */
            up_seconds: number;
            /** Format: double */
            uptime: number | null;
        };
        /** @description The changes of the status of a monitor, newest first. */
        MonitorHistory: {
            history: components["schemas"]["MonitorStatusChange"][];
        };
        /** @description A new monitor. */
        MonitorInput: {
            /** @description Of an `http` monitor. It is shown redacted; if it is sent as it is shown, it is kept. */
            body?: string | null;
            /** @description Of an `http` monitor: a text that the first MiB of the response must contain. */
            body_contains?: string | null;
            /**
             * Format: uint32
             * @description Of an `http` monitor: days before the end of the certificate from which on it is degraded; 0
             *     does not warn. Defaults to 14.
             */
            certificate_warning_days?: number | null;
            /**
             * Format: uint32
             * @description Of an `http` or `tcp` monitor: milliseconds; a slower one is degraded.
             */
            degraded_after_ms?: number | null;
            /**
             * @description Of an `http` monitor: a status, such as `200`, a range, such as `"200-399"`, a class, such
             *     as `"2xx"`, or a list of these. Defaults to `["2xx"]`.
             */
            expected_status?: components["schemas"]["ExpectedStatus"] | null;
            /**
             * Format: uint32
             * @description Of a `heartbeat` monitor: seconds by which a report may be late. Defaults to 30.
             */
            grace_seconds?: number | null;
            /** @description Of an `http` monitor. Values are shown redacted; one that is sent as it is shown is kept. */
            headers?: {
                [key: string]: string;
            } | null;
            /** @description Of a `tcp` monitor, where it is required: a domain or an address. */
            host?: string | null;
            /**
             * Format: uint32
             * @description Seconds between two checks, or two reports of a heartbeat. Defaults to 60.
             */
            interval_seconds?: number | null;
            /** @description Of an `http` monitor. Defaults to `GET`. */
            method?: components["schemas"]["CheckMethod"] | null;
            name: string;
            /** @description Whether nothing is checked. Defaults to false. */
            paused?: boolean | null;
            /**
             * Format: uint16
             * @description Of a `tcp` monitor, where it is required.
             */
            port?: number;
            /**
             * Format: uint32
             * @description Checks after a failed one that have to fail too before the monitor is down. Defaults to 2.
             */
            retries?: number | null;
            /**
             * Format: uint32
             * @description Seconds after which a check has failed, at most `interval_seconds`. Defaults to 10.
             */
            timeout_seconds?: number | null;
            /** @description `http` sends a request, `tcp` opens a connection, `heartbeat` waits for reports. */
            type: components["schemas"]["MonitorType"];
            /** @description Of an `http` monitor, where it is required. */
            url?: string | null;
        };
        /** @description All monitors that were asked for. */
        MonitorList: {
            monitors: components["schemas"]["Monitor"][];
        };
        /**
         * @description A change of a monitor; absent fields are unchanged, and `null` stands for the default. The type
         *     cannot be changed.
         */
        MonitorPatch: {
            /** @description Of an `http` monitor. It is shown redacted; if it is sent as it is shown, it is kept. */
            body?: string | null;
            /** @description Of an `http` monitor: a text that the first MiB of the response must contain. */
            body_contains?: string | null;
            /**
             * Format: uint32
             * @description Of an `http` monitor: days before the end of the certificate from which on it is degraded; 0
             *     does not warn. Defaults to 14.
             */
            certificate_warning_days?: number | null;
            /**
             * Format: uint32
             * @description Of an `http` or `tcp` monitor: milliseconds; a slower one is degraded.
             */
            degraded_after_ms?: number | null;
            /**
             * @description Of an `http` monitor: a status, such as `200`, a range, such as `"200-399"`, a class, such
             *     as `"2xx"`, or a list of these. Defaults to `["2xx"]`.
             */
            expected_status?: components["schemas"]["ExpectedStatus"] | null;
            /**
             * Format: uint32
             * @description Of a `heartbeat` monitor: seconds by which a report may be late. Defaults to 30.
             */
            grace_seconds?: number | null;
            /** @description Of an `http` monitor. Values are shown redacted; one that is sent as it is shown is kept. */
            headers?: {
                [key: string]: string;
            } | null;
            /** @description Of a `tcp` monitor, where it is required: a domain or an address. */
            host?: string | null;
            /**
             * Format: uint32
             * @description Seconds between two checks, or two reports of a heartbeat. Defaults to 60.
             */
            interval_seconds?: number | null;
            /** @description Of an `http` monitor. Defaults to `GET`. */
            method?: components["schemas"]["CheckMethod"] | null;
            name?: string;
            /** @description Whether nothing is checked. Defaults to false. */
            paused?: boolean | null;
            /**
             * Format: uint16
             * @description Of a `tcp` monitor, where it is required.
             */
            port?: number;
            /**
             * Format: uint32
             * @description Checks after a failed one that have to fail too before the monitor is down. Defaults to 2.
             */
            retries?: number | null;
            /**
             * Format: uint32
             * @description Seconds after which a check has failed, at most `interval_seconds`. Defaults to 10.
             */
            timeout_seconds?: number | null;
            /** @description `http` sends a request, `tcp` opens a connection, `heartbeat` waits for reports. */
            type: components["schemas"]["MonitorType"];
            /** @description Of an `http` monitor, where it is required. */
            url?: string | null;
        };
        /**
         * @description The states of monitors.
         * @enum {string}
         */
        MonitorStatus: "pending" | "up" | "degraded" | "down" | "paused";
        /** @description A change of the status of a monitor. */
        MonitorStatusChange: {
            /** Format: date-time */
            at: string;
            reason: string | null;
            status: components["schemas"]["MonitorStatus"];
        };
        /**
         * @description The types of monitors.
         * @enum {string}
         */
        MonitorType: "http" | "tcp" | "heartbeat";
        /** @description The uptime of a monitor, by day in UTC. */
        MonitorUptime: {
            days: components["schemas"]["MonitorDay"][];
            /**
             * Format: double
             * @description In percent, over all days; null if nothing was observed.
             */
            uptime: number | null;
        };
        /** @description A comparison that was just made. */
        NewComparison: {
            /** Format: date-time */
            approved_at: string | null;
            approved_by: string | null;
            baseline_id: string;
            baseline_url: string;
            browser: components["schemas"]["Browser"];
            comparison_id: string;
            /** Format: date-time */
            created_at: string;
            created_by: string;
            /**
             * Format: double
             * @description Percent of the pixels of both images together, with four decimals; 0 only if none differs.
             */
            diff_percentage: number;
            /** Format: uint64 */
            diff_pixels: number;
            /** @description The changes in red over a faded baseline; anti-aliasing in yellow. */
            diff_url: string;
            full_page: boolean;
            ignore_regions: components["schemas"]["PixelArea"][];
            /** @description The baseline that an approved snapshot has become. */
            new_baseline_id: string | null;
            page_id: string;
            /** @description Whether no more differs. */
            passed: boolean;
            /** @description Why it was approved or rejected. */
            reason: string | null;
            /** @description The regions that changed, the largest first, 100 at most. */
            regions: components["schemas"]["ChangedRegion"][];
            /**
             * Format: uint64
             * @description The number of all such regions.
             */
            regions_total: number;
            /** Format: date-time */
            rejected_at: string | null;
            rejected_by: string | null;
            /** @description A page that shows the three images, for people. The URL needs no key and expires. */
            review_url: string;
            /** @description Whether the images have different sizes. What only one of them has differs. */
            sizes_differ: boolean;
            snapshot_id: string;
            snapshot_url: string;
            status: components["schemas"]["ComparisonStatus"];
            /**
             * Format: double
             * @description Percent of the pixels that may differ.
             */
            threshold: number;
            /** Format: uint64 */
            total_pixels: number;
            url: string;
            viewport: components["schemas"]["Viewport"];
        };
        /** @description A key that was just created. */
        NewKeyAnswer: {
            /** Format: date-time */
            created_at: string;
            id: string;
            /** @description The complete key with its secret; absent if an idempotent request is repeated. */
            key?: string | null;
            /** Format: date-time */
            last_used_at: string | null;
            /** @description Quotas that differ from the server's. */
            limits: {
                [key: string]: components["schemas"]["Quota"];
            };
            name: string;
            public_ingest: boolean;
            /** Format: date-time */
            revoked_at: string | null;
            scopes: string[];
            user: string;
        };
        NewKeyAnswerData: {
            data: components["schemas"]["NewKeyAnswer"];
        };
        NumberMetricInput: {
            /** @example cpu.usage */
            name: string;
            /**
             * @example {
             *       "host": "web-1"
             *     }
             */
            tags?: {
                [key: string]: string | number | boolean;
            } | null;
            /** @description Default: the time of receipt. From 1970 to 24 hours in the future. */
            timestamp?: string | null;
            /** @enum {string} */
            type: "gauge" | "counter" | "distribution";
            /**
             * @description Finite.
             * @example 42.5
             */
            value: number;
        };
        /** @description A link to the calendar of a schedule, which is shown once. */
        OnCallCalendarLink: {
            /** @description The path and query. */
            path: string;
            /** @description The whole URL; null unless `server.public_url` is set. */
            url: string | null;
        };
        OnCallCalendarLinkData: {
            data: components["schemas"]["OnCallCalendarLink"];
        };
        /** @description Who is on call on a day. */
        OnCallDay: {
            user: string;
        };
        /** @description Who is on call on a day. */
        OnCallDayInput: {
            /** @description One of the members. */
            user: string;
        };
        /** @description A person who is on call instead of the planned one. */
        OnCallOverride: {
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            ends_at: string;
            id: string;
            /** Format: date-time */
            starts_at: string;
            user: string;
        };
        OnCallOverrideData: {
            data: components["schemas"]["OnCallOverride"];
        };
        /** @description A person who is on call instead of the planned one. */
        OnCallOverrideInput: {
            /**
             * Format: date-time
             * @description Must be after `starts_at`.
             */
            ends_at: string;
            /** Format: date-time */
            starts_at: string;
            /** @description An email address, not necessarily of a member. */
            user: string;
        };
        /** @description An on-call schedule. */
        OnCallSchedule: {
            /** Format: date-time */
            created_at: string;
            /** @description The person on call now; null if nobody is, or the schedule is not enabled. */
            current_on_call: string | null;
            /**
             * Format: date-time
             * @description When it ends; null if it has no end.
             */
            current_shift_end: string | null;
            /**
             * Format: date-time
             * @description When the current shift, or the time without a person, began; null if it has no start.
             */
            current_shift_start: string | null;
            enabled: boolean;
            id: string;
            members: string[];
            name: string;
            /** @description In order of creation: where several overlap, the last one wins. */
            overrides: components["schemas"]["OnCallOverride"][];
            /**
             * Format: date-time
             * @description Only of a custom schedule.
             */
            rotation_start: string | null;
            /** @description Only of a custom schedule: `daily` or `weekly`. */
            rotation_type: string | null;
            /** @description `weekly` or `custom`. */
            schedule_type: string;
            timezone: string;
            /** @description Only of a weekly schedule. */
            weekly_schedule: components["schemas"]["OnCallWeek"] | null;
        };
        OnCallScheduleData: {
            data: components["schemas"]["OnCallSchedule"];
        };
        /** @description A new on-call schedule. */
        OnCallScheduleInput: {
            /** @description Defaults to true. */
            enabled?: boolean | null;
            /** @description Email addresses, in the order of the turns. */
            members: string[];
            name: string;
            /** @description When the turn of the first member begins. */
            rotation_start?: string | null;
            /** @description `daily` or `weekly`. */
            rotation_type?: string | null;
            /** @description `weekly`, with `weekly_schedule`; or `custom`, with `rotation_type` and `rotation_start`. */
            schedule_type: string;
            /** @description The name of a time zone, such as `Europe/Berlin`. */
            timezone: string;
            weekly_schedule?: components["schemas"]["OnCallWeekInput"] | null;
        };
        /** @description A change of an on-call schedule; absent fields are unchanged. */
        OnCallSchedulePatch: {
            /** @description `null` is the default, true. */
            enabled?: boolean | null;
            /** @description Replaces all members. */
            members?: string[];
            name?: string;
            rotation_start?: string | null;
            /** @description `daily` or `weekly`. */
            rotation_type?: string | null;
            /** @description Must be the current type. */
            schedule_type?: string | null;
            timezone?: string;
            /** @description Days that are absent are unchanged. */
            weekly_schedule?: components["schemas"]["OnCallWeekInput"] | null;
        };
        /** @description An on-call schedule in a list. */
        OnCallScheduleSummary: {
            /** Format: date-time */
            created_at: string;
            /** @description The person on call now; null if nobody is, or the schedule is not enabled. */
            current_on_call: string | null;
            enabled: boolean;
            id: string;
            name: string;
            /** @description `weekly` or `custom`. */
            schedule_type: string;
            timezone: string;
        };
        /** @description `{"data": […], "meta": {…}}` */
        OnCallScheduleSummaryPage: {
            /** @description The items of the page. */
            data: components["schemas"]["OnCallScheduleSummary"][];
            /** @description The position of the page in the list. */
            meta: components["schemas"]["PageMeta"];
        };
        /** @description A stretch of time with one person on call, or nobody. */
        OnCallShift: {
            /**
             * Format: date-time
             * @description Null if it has no end.
             */
            ends_at: string | null;
            /** @description `weekly`, `rotation`, `override`, or `gap` if nobody is on call. */
            source: string;
            /**
             * Format: date-time
             * @description Null if it has no start.
             */
            starts_at: string | null;
            /** @description Null if nobody is on call. */
            user: string | null;
        };
        OnCallShiftListData: {
            data: components["schemas"]["OnCallShift"][];
        };
        /** @description Who is on call on each day of the week; null on a day on which nobody is. */
        OnCallWeek: {
            friday: components["schemas"]["OnCallDay"] | null;
            monday: components["schemas"]["OnCallDay"] | null;
            saturday: components["schemas"]["OnCallDay"] | null;
            sunday: components["schemas"]["OnCallDay"] | null;
            thursday: components["schemas"]["OnCallDay"] | null;
            tuesday: components["schemas"]["OnCallDay"] | null;
            wednesday: components["schemas"]["OnCallDay"] | null;
        };
        /** @description Who is on call on each day of the week; nobody on a day that is null. */
        OnCallWeekInput: {
            friday?: components["schemas"]["OnCallDayInput"] | null;
            monday?: components["schemas"]["OnCallDayInput"] | null;
            saturday?: components["schemas"]["OnCallDayInput"] | null;
            sunday?: components["schemas"]["OnCallDayInput"] | null;
            thursday?: components["schemas"]["OnCallDayInput"] | null;
            tuesday?: components["schemas"]["OnCallDayInput"] | null;
            wednesday?: components["schemas"]["OnCallDayInput"] | null;
        };
        /** @description The result of a request. */
        OtlpExportAnswer: {
            /** @description Absent if everything was stored. */
            partialSuccess?: components["schemas"]["OtlpPartialSuccess"] | null;
        };
        /** @description The data points that were not stored. */
        OtlpPartialSuccess: {
            /** @description The first reasons for rejection. */
            errorMessage: string;
            /** @description The number of rejected data points, as a string; 0 if the message is only a warning. */
            rejectedDataPoints: string;
        };
        /** @description The position of a page in its list. */
        PageMeta: {
            /**
             * Format: uint
             * @description Maximum number of items of a page.
             */
            limit: number;
            /**
             * Format: uint
             * @description Number of items before the page.
             */
            offset: number;
            /**
             * Format: uint
             * @description Number of items of the whole list.
             */
            total: number;
        };
        /** @description A paused queue. */
        PausedQueue: {
            /** Format: date-time */
            paused_at: string;
            queue: string;
            /** @description Always `paused`. */
            status: string;
        };
        /** @description A rectangle of an image, in pixels. */
        PixelArea: {
            /** Format: uint32 */
            height: number;
            /** Format: uint32 */
            width: number;
            /** Format: uint32 */
            x: number;
            /** Format: uint32 */
            y: number;
        };
        /** @description A rectangle of an image, in pixels. */
        PixelAreaInput: {
            /** Format: uint32 */
            height: number;
            /** Format: uint32 */
            width: number;
            /** Format: uint32 */
            x: number;
            /** Format: uint32 */
            y: number;
        };
        /** @description An alert as it is sent. */
        PostableAlert: {
            annotations?: {
                [key: string]: string;
            } | null;
            /** @description Defaults to the end of the resolve timeout. */
            endsAt?: string | null;
            generatorURL?: string | null;
            labels: {
                [key: string]: string;
            };
            /** @description Defaults to now. */
            startsAt?: string | null;
        };
        /** @description The preferences of the user of the key or session. */
        Preferences: {
            /** @description As sent; empty if none were. */
            preferences: Record<string, unknown>;
            /**
             * Format: date-time
             * @description Null if none were stored.
             */
            updated_at: string | null;
            user: string;
        };
        PreferencesData: {
            data: components["schemas"]["Preferences"];
        };
        /** @description New preferences. */
        PreferencesInput: {
            /** @description An object of at most 16 KiB, nested at most 16 levels deep, which replaces all preferences. */
            preferences: Record<string, unknown>;
        };
        /** @description A component of a status page. */
        PublicComponent: {
            group: string | null;
            name: string;
            status: components["schemas"]["PublicComponentStatus"];
            /**
             * Format: double
             * @description In percent; null if nothing was observed.
             */
            uptime_90d: number | null;
        };
        /**
         * @description The status of a component; `unknown` if it was not observed yet.
         * @enum {string}
         */
        PublicComponentStatus: "operational" | "degraded_performance" | "major_outage" | "under_maintenance" | "unknown";
        /** @description An incident of a status page. */
        PublicIncident: {
            components: string[];
            id: string;
            impact: string;
            /** Format: date-time */
            resolved_at: string | null;
            /** Format: date-time */
            started_at: string;
            status: string;
            title: string;
            /** Format: date-time */
            updated_at: string;
            /** @description Newest first. */
            updates: components["schemas"]["PublicIncidentUpdate"][];
        };
        /** @description An update of an incident. */
        PublicIncidentUpdate: {
            /** Format: date-time */
            created_at: string;
            message: string;
            status: string;
        };
        /** @description A scheduled maintenance. */
        PublicMaintenance: {
            components: string[];
            description: string | null;
            /** Format: date-time */
            ends_at: string;
            id: string;
            /** Format: date-time */
            starts_at: string;
            status: string;
            title: string;
        };
        /**
         * @description The status of a page.
         * @enum {string}
         */
        PublicPageStatus: "operational" | "under_maintenance" | "degraded_performance" | "partial_outage" | "major_outage";
        /** @description A status page. */
        PublicStatus: {
            components: components["schemas"]["PublicComponent"][];
            /** @description Those that are not resolved. */
            incidents: components["schemas"]["PublicIncident"][];
            name: string;
            /** @description Those that are not over. */
            scheduled_maintenances: components["schemas"]["PublicMaintenance"][];
            /** @description Components of which nothing is known do not count. */
            status: components["schemas"]["PublicPageStatus"];
            /**
             * Format: date-time
             * @description When something that the document says changed last.
             */
            updated_at: string;
        };
        /** @description The result of a purge. */
        PurgedQueue: {
            /** Format: uint */
            jobs_deleted: number;
            message: string;
            queue: string;
        };
        /** @description A question about a repository. */
        QuestionInput: {
            question: string;
            /** @description The id of the repository. */
            repository: string;
            /** @description The session that the question continues. Without it a new one begins. */
            session_id?: string | null;
        };
        /** @description The number of attempts of a class that ended. */
        QueueClassCount: {
            class: string;
            /** Format: uint64 */
            count: number;
        };
        /** @description A queue with today's statistics. */
        QueueDetail: {
            /** @description How long the oldest of them has waited, in seconds. */
            latency_seconds: number;
            name: string;
            /** Format: date-time */
            paused_at: string | null;
            /**
             * Format: uint
             * @description The number of jobs that wait for their next attempt.
             */
            retrying: number;
            /**
             * Format: uint
             * @description The number of jobs that workers hold.
             */
            running: number;
            /**
             * Format: uint
             * @description The number of jobs that are scheduled for later.
             */
            scheduled: number;
            /**
             * Format: uint
             * @description The number of jobs that are ready.
             */
            size: number;
            stats: components["schemas"]["QueueStats"];
            /** @description `paused`; `degraded` if the oldest job has waited too long; otherwise `healthy`. */
            status: string;
            throughput: components["schemas"]["QueueThroughput"];
            /** @description The classes with the most attempts that ended today. */
            top_job_classes: components["schemas"]["QueueClassCount"][];
            /**
             * Format: uint
             * @description The number of active workers that serve the queue.
             */
            workers: number;
        };
        /** @description The history of a queue. */
        QueueHistory: {
            metrics: components["schemas"]["QueuePoint"][];
            period: string;
            queue: string;
            resolution: string;
        };
        /** @description A page of queues. */
        QueueList: {
            queues: components["schemas"]["QueueSummary"][];
            /**
             * Format: uint
             * @description The number of queues on all pages.
             */
            total: number;
        };
        /** @description One bucket of a queue's history. */
        QueuePoint: {
            /** Format: uint64 */
            failures: number;
            /** @description How long the oldest job had waited at its end, in seconds; null if the server was down. */
            latency: number | null;
            /** @description The number of waiting jobs at its end; null if the server was down. */
            size: number | null;
            /**
             * Format: uint64
             * @description The number of attempts that ended.
             */
            throughput: number;
            /**
             * Format: date-time
             * @description The start of the bucket.
             */
            timestamp: string;
        };
        /** @description The confirmation of a purge. */
        QueuePurgeInput: {
            /** @description Must be true, here or in the query string. */
            confirm?: boolean | null;
        };
        /** @description The statistics of a queue since midnight in UTC. */
        QueueStats: {
            /**
             * Format: uint64
             * @description The average duration of successful attempts, in milliseconds.
             */
            avg_job_duration_ms: number;
            /** Format: uint64 */
            failed_today: number;
            /** @description The fraction of failed attempts, from 0 to 1. */
            failure_rate: number;
            /**
             * Format: uint64
             * @description The number of attempts that ended, including failed ones.
             */
            processed_today: number;
        };
        /** @description A queue. */
        QueueSummary: {
            /** @description How long the oldest of them has waited, in seconds. */
            latency_seconds: number;
            name: string;
            /** Format: date-time */
            paused_at: string | null;
            /**
             * Format: uint
             * @description The number of jobs that wait for their next attempt.
             */
            retrying: number;
            /**
             * Format: uint
             * @description The number of jobs that workers hold.
             */
            running: number;
            /**
             * Format: uint
             * @description The number of jobs that are scheduled for later.
             */
            scheduled: number;
            /**
             * Format: uint
             * @description The number of jobs that are ready.
             */
            size: number;
            /** @description `paused`; `degraded` if the oldest job has waited too long; otherwise `healthy`. */
            status: string;
            throughput: components["schemas"]["QueueThroughput"];
            /**
             * Format: uint
             * @description The number of active workers that serve the queue.
             */
            workers: number;
        };
        /** @description The number of attempts that ended recently. */
        QueueThroughput: {
            /** Format: uint64 */
            per_hour: number;
            /** Format: uint64 */
            per_minute: number;
        };
        /** @description Workers whose status was changed. */
        QuietedWorkers: {
            message: string;
            /** Format: uint */
            workers_quieted: number;
        };
        /** @description Requests per minute, or "unlimited". */
        Quota: number | "unlimited";
        /** @description A query of alerts that Prometheus delivers. The value is 1 for each alert that fires. */
        ReceivedAlertsQuery: {
            /** @description The name of the alerts, or a prefix of it followed by `*`. */
            alert: string;
            /** @description Filters by label: `v` (equal), `a,b` (one of), `!v` (not equal), `v*` (prefix). */
            tags?: {
                [key: string]: string;
            } | null;
        };
        /** @description A request that a page must not make. */
        RefusedRequest: {
            host: string;
            /** Format: uint16 */
            port: number;
            reason: string;
        };
        /** @description A registered worker. */
        RegisteredWorker: {
            /** @description The interval of heartbeats, in seconds. */
            heartbeat_seconds: number;
            id: string;
            /** @description The duration of reservations of jobs without `timeout_seconds`, in seconds. */
            lease_seconds: number;
        };
        /** @description A rejected job of a batch. */
        RejectedJob: {
            code: string;
            /** Format: uint */
            index: number;
            message: string;
        };
        /** @description The outcome of an error report. */
        ReportedError: {
            /** @description The id of the occurrence. */
            event_id: string;
            /** @description The error that the occurrence belongs to. */
            id: string;
        };
        ReportedErrorData: {
            data: components["schemas"]["ReportedError"];
        };
        /** @description A repository. */
        Repository: {
            /** @description The branch that is asked for, or the default branch once it is known. */
            branch: string | null;
            /** Format: date-time */
            created_at: string;
            created_by: string;
            /** @description Whether a token is stored. */
            has_access_token: boolean;
            id: string;
            /** @description The commit that is indexed. */
            last_commit: string | null;
            /** @description Why the last sync failed. What was indexed before it stays. */
            last_error: components["schemas"]["SyncFailure"] | null;
            /**
             * Format: date-time
             * @description When what is indexed was fetched.
             */
            last_synced_at: string | null;
            name: string;
            settings: components["schemas"]["RepositorySettings"];
            stats: components["schemas"]["RepositoryStats"];
            /** @description `pending` until the first sync begins. */
            status: components["schemas"]["RepositoryStatus"];
            /** @description The sync that waits or runs. */
            sync_id: string | null;
            url: string;
        };
        /** @description A repository that is to be connected. */
        RepositoryInput: {
            /** @description A token that may read the repository; git sends it as the password. Never shown. */
            access_token?: string | null;
            /**
             * @description Whether it is synced when the branch has moved, which is looked for every
             *     `repositories.auto_sync_every`. Defaults to true.
             */
            auto_sync?: boolean | null;
            /** @description Defaults to the default branch of the remote repository. */
            branch?: string | null;
            /**
             * @description Patterns of the paths that are not indexed; they win. Defaults to code of others, lock files
             *     and generated files. Binary files are never indexed.
             */
            exclude_patterns?: string[] | null;
            /** @description Patterns of the paths that are indexed, as in `.gitignore`. Defaults to `["**\/*"]`. */
            include_patterns?: string[] | null;
            /** @description Defaults to the last part of the URL, without `.git`. */
            name?: string | null;
            /**
             * @description Where git fetches it from: an `https` URL without user and password, unless
             *     `repositories.schemes` allows others.
             */
            url: string;
        };
        /** @description Repositories, newest first. */
        RepositoryList: {
            repositories: components["schemas"]["RepositorySummary"][];
        };
        /** @description A change of a repository; absent fields are unchanged, and `null` stands for the default. */
        RepositoryPatch: {
            /** @description Another token; `null` removes it. */
            access_token?: string | null;
            auto_sync?: boolean | null;
            branch?: string | null;
            exclude_patterns?: string[] | null;
            include_patterns?: string[] | null;
            name?: string;
        };
        /** @description What users set. */
        RepositorySettings: {
            auto_sync: boolean;
            exclude_patterns: string[];
            include_patterns: string[];
        };
        /** @description What is indexed. */
        RepositoryStats: {
            /** Format: uint64 */
            chunks_indexed: number;
            /** Format: uint64 */
            diagrams: number;
            /** Format: uint64 */
            files_indexed: number;
            /** Format: uint64 */
            wiki_pages: number;
        };
        /**
         * @description How far a repository is.
         * @enum {string}
         */
        RepositoryStatus: "pending" | "syncing" | "synced" | "failed";
        /** @description A repository in a list. */
        RepositorySummary: {
            branch: string | null;
            /** Format: uint64 */
            chunks_indexed: number;
            /** Format: uint64 */
            files_indexed: number;
            id: string;
            last_commit: string | null;
            /** Format: date-time */
            last_synced_at: string | null;
            name: string;
            status: components["schemas"]["RepositoryStatus"];
            url: string;
        };
        /** @description A resumed queue. */
        ResumedQueue: {
            queue: string;
            /** Format: date-time */
            resumed_at: string;
            /** @description Always `active`. */
            status: string;
        };
        /** @description The result of retrying a dead job. */
        RetriedDeadJob: {
            dead_job_id: string;
            message: string;
            new_job_id: string;
            queue: string;
        };
        /** @description The result of retrying several dead jobs. */
        RetriedDeadJobs: {
            /** Format: uint */
            failed: number;
            /**
             * Format: uint
             * @description The number of selected jobs; only in the response to a dry run.
             */
            matched?: number | null;
            message: string;
            /** Format: uint */
            retried: number;
        };
        /** @description A scheduled maintenance. */
        ScheduledMaintenance: {
            /** Format: date-time */
            created_at: string;
            created_by: string;
            description: string | null;
            /** Format: date-time */
            ends_at: string;
            id: string;
            /** @description The ids of the monitors that it covers. */
            monitors: string[];
            /** @description Whether its maintenance window is active. */
            mute_alerts: boolean;
            /**
             * @description The alert rules that its maintenance window mutes; null if alerts are not muted, or all are.
             *     Empty, so that nothing is muted, if all were deleted.
             */
            mute_rule_ids: string[] | null;
            notify_subscribers: boolean;
            page_id: string;
            /** Format: date-time */
            starts_at: string;
            status: components["schemas"]["ScheduledMaintenanceStatus"];
            title: string;
            /** @description The maintenance window that mutes alerts; null if there is none. */
            window_id: string | null;
        };
        /** @description A new scheduled maintenance. */
        ScheduledMaintenanceInput: {
            description?: string | null;
            /**
             * Format: date-time
             * @description Must be after `starts_at`, by at most 30 days, and in the future.
             */
            ends_at: string;
            /** @description The monitors of the page that it covers. */
            monitors: string[];
            /** @description Whether alerts are muted while it is in progress. Defaults to false. */
            mute_alerts?: boolean | null;
            /** @description The alert rules that are muted if `mute_alerts`; all rules if absent or null. */
            mute_rule_ids?: string[] | null;
            /** @description Whether the subscribers of the page are notified. Defaults to false. */
            notify_subscribers?: boolean | null;
            /** Format: date-time */
            starts_at: string;
            title: string;
        };
        /** @description The scheduled maintenances of a status page, those that end last first. */
        ScheduledMaintenanceList: {
            maintenances: components["schemas"]["ScheduledMaintenanceSummary"][];
        };
        /** @description A change of a scheduled maintenance; absent fields are unchanged. */
        ScheduledMaintenancePatch: {
            /** @description `null` removes it. */
            description?: string | null;
            /**
             * Format: date-time
             * @description Of a maintenance in progress, a time in the past ends it now.
             */
            ends_at?: string;
            monitors?: string[];
            /** @description `null` is the default, false. True also makes a maintenance window again that was deleted. */
            mute_alerts?: boolean | null;
            /** @description `null` mutes all rules if `mute_alerts`. */
            mute_rule_ids?: string[] | null;
            /** @description `null` is the default, false. */
            notify_subscribers?: boolean | null;
            /** Format: date-time */
            starts_at?: string;
            title?: string;
        };
        /**
         * @description Where now is in relation to a scheduled maintenance.
         * @enum {string}
         */
        ScheduledMaintenanceStatus: "scheduled" | "in_progress" | "completed";
        /** @description A scheduled maintenance in a list, which is without the muted rules. */
        ScheduledMaintenanceSummary: {
            /** Format: date-time */
            created_at: string;
            created_by: string;
            description: string | null;
            /** Format: date-time */
            ends_at: string;
            id: string;
            /** @description The ids of the monitors that it covers. */
            monitors: string[];
            /** @description Whether its maintenance window is active. */
            mute_alerts: boolean;
            notify_subscribers: boolean;
            page_id: string;
            /** Format: date-time */
            starts_at: string;
            status: components["schemas"]["ScheduledMaintenanceStatus"];
            title: string;
            /** @description The maintenance window that mutes alerts; null if there is none. */
            window_id: string | null;
        };
        /** @description The result of a seal. */
        Sealed: {
            /** Format: uint64 */
            blocks: number;
            /** Format: uint64 */
            bytes: number;
            /** Format: uint64 */
            points: number;
        };
        SealedData: {
            data: components["schemas"]["Sealed"];
        };
        /** @description A match. */
        SearchItem: {
            /** @description What tells it apart from others of the same name. */
            detail: string | null;
            /** @description The id; the name of what has no id. */
            id: string;
            name: string;
        };
        /** @description What was found of a kind. */
        SearchKind: {
            /** @description The best matches, the best first. */
            items: components["schemas"]["SearchItem"][];
            kind: string;
            /**
             * Format: uint
             * @description The number of all matches.
             */
            total: number;
        };
        /** @description What was found. */
        SearchResult: {
            /** @description Kinds that could not be searched. */
            failed: string[];
            /** @description Kinds that have matches, in a fixed order. */
            results: components["schemas"]["SearchKind"][];
        };
        SearchResultData: {
            data: components["schemas"]["SearchResult"];
        };
        /** @description The response to Sentry SDKs. */
        SentryAnswer: {
            /** @description The id that the sender gave the event. */
            id?: string | null;
        };
        /** @description A server. */
        ServerDescription: {
            /** @description The areas of the API, as its document groups them: `errors`, `queues`. */
            areas: string[];
            /** @description Identifies the pages that the server has; it changes when they do. */
            console_build: string;
            /** @description `telltale` */
            name: string;
            /**
             * Format: uint16
             * @description The port on which the server listens; null if it does not.
             */
            port: number | null;
            version: string;
        };
        ServerDescriptionData: {
            data: components["schemas"]["ServerDescription"];
        };
        /** @description The state of the process. */
        ServerHealth: {
            /** @description `ok` */
            status: string;
        };
        /** @description The server's name, version and entry points. */
        ServerIndex: {
            /** @description The pages of this server for people. */
            console: string;
            /** @description The page that documents all routes. */
            docs: string;
            health: string;
            /** @description The server's own metrics, in Prometheus exposition format; requires a key. */
            metrics: string;
            /** @description `telltale` */
            name: string;
            /** @description The OpenAPI document of all routes. */
            openapi: string;
            readiness: string;
            version: string;
        };
        /** @description The state of the server. */
        ServerReadiness: {
            /** @description The first descriptions of data that was lost or repaired. */
            damage?: string[];
            /**
             * Format: uint
             * @description The number of lost or corrupt items found, if any. The rest of the data is served.
             */
            damage_found?: number;
            /**
             * @description Conditions that an operator should know, one line each: why writes are refused, or why
             *     compaction or expiry is suspended.
             */
            notices?: string[];
            /** @description `ok` */
            status: string;
        };
        /** @description A session that is to be begun. */
        SessionInput: {
            /** @description What the questions will be about. */
            context?: string | null;
            /** @description The id of the repository. */
            repository: string;
        };
        /** @description Whether a browser has a session. */
        SessionState: {
            /** @description Whether its cookie is that of a session. */
            signed_in: boolean;
        };
        SessionStateData: {
            data: components["schemas"]["SessionState"];
        };
        SetMetricInput: {
            /** @example cpu.usage */
            name: string;
            /**
             * @example {
             *       "host": "web-1"
             *     }
             */
            tags?: {
                [key: string]: string | number | boolean;
            } | null;
            /** @description Default: the time of receipt. From 1970 to 24 hours in the future. */
            timestamp?: string | null;
            /** @enum {string} */
            type: "set";
            /** @description The member. A set counts its distinct members. */
            value: string;
        };
        /** @description A new code. */
        SignInCode: {
            code: string;
            /** Format: date-time */
            expires_at: string;
            /** @description The path that signs in with the code, to be appended to the URL of the server. */
            path: string;
        };
        SignInCodeData: {
            data: components["schemas"]["SignInCode"];
        };
        /** @description What opens a session: either a key or a code. */
        SignInInput: {
            /** @description A code, which opens one session. */
            code?: string | null;
            /** @description A key with the scope `read`. */
            key?: string | null;
        };
        /** @description The files of a commit that are not indexed. */
        SkippedFiles: {
            /** Format: uint64 */
            binary: number;
            /**
             * Format: uint64
             * @description By the patterns.
             */
            excluded: number;
            /**
             * Format: uint64
             * @description Files that say that they were generated.
             */
            generated: number;
            /**
             * Format: uint64
             * @description Paths that are not UTF-8, are too long, or lead out of the repository.
             */
            invalid_paths: number;
            /** Format: uint64 */
            not_utf8: number;
            /** Format: uint64 */
            submodules: number;
            /** Format: uint64 */
            symbolic_links: number;
            /**
             * Format: uint64
             * @description Larger than `repositories.file_bytes_max`.
             */
            too_large: number;
        };
        /** @description A snapshot. */
        Snapshot: {
            browser: components["schemas"]["Browser"];
            /** Format: date-time */
            captured_at: string | null;
            /** @description The names of the cookies, likewise. */
            cookie_names: string[];
            /** Format: date-time */
            created_at: string;
            created_by: string;
            /** Format: double */
            device_scale_factor: number;
            /** Format: uint64 */
            duration_ms: number | null;
            /** @description Null unless failed. */
            error: components["schemas"]["CaptureError"] | null;
            /** @description The URL of the page after redirects. */
            final_url: string | null;
            full_page: boolean;
            /** @description The names of the headers that were sent with the request; their values are never shown. */
            header_names: string[];
            hide_selectors: string[];
            /**
             * Format: uint16
             * @description The status of the response that the page is.
             */
            http_status: number | null;
            id: string;
            /** Format: uint32 */
            image_height: number | null;
            /** Format: uint64 */
            image_size_bytes: number | null;
            /** @description Where the image is; the URL needs no key and expires. Null unless completed. */
            image_url: string | null;
            /**
             * Format: uint32
             * @description Device pixels of the image.
             */
            image_width: number | null;
            mask_selectors: string[];
            /** @description The same for all snapshots of a URL. */
            page_id: string;
            /** @description Addresses that the page must not reach, and tried to: the first ones. */
            refused_requests: components["schemas"]["RefusedRequest"][];
            /** Format: uint64 */
            refused_requests_total: number;
            status: components["schemas"]["SnapshotStatus"];
            /** @description Whether the page is higher than its image. */
            truncated: boolean | null;
            /** @description Whether the page went on changing, so that two images of it may differ. */
            unstable: boolean | null;
            url: string;
            viewport: components["schemas"]["Viewport"];
            wait_for: string;
        };
        /** @description A page that is to be captured. */
        SnapshotInput: {
            /** @description Defaults to `chromium`, the only one. */
            browser?: components["schemas"]["Browser"] | null;
            /** @description Cookies for the host of the page, by name. Never shown. */
            cookies?: {
                [key: string]: string;
            } | null;
            /**
             * Format: double
             * @description Device pixels for each CSS pixel, from 1 to 4. Defaults to 1.
             */
            device_scale_factor?: number | null;
            /**
             * @description Whether the whole page is captured, up to 16 384 pixels of height, or only what the viewport
             *     shows. Defaults to false.
             */
            full_page?: boolean | null;
            /** @description Headers of requests to the origin of the page, for pages behind a login. Never shown. */
            headers?: {
                [key: string]: string;
            } | null;
            /** @description CSS selectors of elements that are made invisible; they keep their place. */
            hide_selectors?: string[] | null;
            /** @description CSS selectors of elements that are painted over with one colour. */
            mask_selectors?: string[] | null;
            /** @description An `http` or `https` URL, whose host must have a public address. */
            url: string;
            /** @description Defaults to 1280 × 720. */
            viewport?: components["schemas"]["ViewportInput"] | null;
            /**
             * @description When the page is captured: at `load`, `dom_content_loaded` or `network_idle` (no request for
             *     500 ms), or when an element matches the CSS selector after `selector:`. Defaults to
             *     `network_idle`.
             */
            wait_for?: string | null;
        };
        /** @description Snapshots, newest first. */
        SnapshotList: {
            snapshots: components["schemas"]["SnapshotSummary"][];
        };
        /**
         * @description How far a snapshot is.
         * @enum {string}
         */
        SnapshotStatus: "pending" | "capturing" | "completed" | "failed";
        /** @description A snapshot in a list. */
        SnapshotSummary: {
            browser: components["schemas"]["Browser"];
            /** Format: date-time */
            captured_at: string | null;
            /** Format: date-time */
            created_at: string;
            id: string;
            page_id: string;
            status: components["schemas"]["SnapshotStatus"];
            url: string;
        };
        /**
         * @description The direction of sorting.
         * @enum {string}
         */
        SortOrder: "asc" | "desc";
        /** @description A sync that was begun, or that runs already. */
        StartedSync: {
            /** Format: date-time */
            started_at: string;
            status: components["schemas"]["SyncStatus"];
            sync_id: string;
        };
        /** @description A status, or a range of them. */
        StatusOrRange: number | string;
        /** @description A status page. */
        StatusPage: {
            /** @description The incidents that are not resolved, newest first. */
            active_incidents: components["schemas"]["Incident"][];
            branding: components["schemas"]["StatusPageBranding"];
            /** Format: date-time */
            created_at: string;
            created_by: string;
            custom_domain: string | null;
            id: string;
            /** @description In the order in which they are shown. */
            monitors: components["schemas"]["StatusPageMonitor"][];
            name: string;
            status: components["schemas"]["StatusPageStatus"];
            subdomain: string;
            /** @description Where visitors find it; a path if the server does not know its own address. */
            url: string;
        };
        /** @description How a status page looks. */
        StatusPageBranding: {
            logo_url: string | null;
            primary_color: string | null;
        };
        /** @description How a status page looks. In a change, absent fields are unchanged, and `null` removes one. */
        StatusPageBrandingInput: {
            /** @description An absolute URL of `http` or `https`. */
            logo_url?: string | null;
            primary_color?: string | null;
        };
        /** @description A change of a status page; absent fields are unchanged. */
        StatusPageChange: {
            /** @description `null` removes all of it. */
            branding?: components["schemas"]["StatusPageBrandingInput"] | null;
            /** @description `null` removes it. */
            custom_domain?: string | null;
            name?: string;
            /** @description Unique. Some names, such as `www`, are reserved. */
            subdomain?: string;
        };
        /** @description A new status page. */
        StatusPageInput: {
            branding?: components["schemas"]["StatusPageBrandingInput"] | null;
            /** @description Unique. It must lead to the server. */
            custom_domain?: string | null;
            /** @description The ids of the monitors that it shows, in this order. */
            monitors?: string[] | null;
            name: string;
            /** @description Unique. Some names, such as `www`, are reserved. */
            subdomain: string;
        };
        /** @description The status pages, newest first. */
        StatusPageList: {
            status_pages: components["schemas"]["StatusPageSummary"][];
        };
        /** @description A monitor on a status page. */
        StatusPageMonitor: {
            /** @description The name that visitors see; null if it is that of the monitor. */
            display_name: string | null;
            group: string | null;
            id: string;
            /** @description The name of the monitor. */
            name: string;
            /** @description The status of the monitor, or `under_maintenance`. */
            status: components["schemas"]["StatusPageMonitorStatus"];
            /**
             * Format: double
             * @description The share of the observed time of the last 90 days in which it was up, in percent; null if
             *     nothing was observed.
             */
            uptime_90d: number | null;
        };
        /** @description A monitor that a status page shows. */
        StatusPageMonitorInput: {
            /** @description The name that visitors see. Defaults to that of the monitor. */
            display_name?: string | null;
            /** @description The name of the group that it is shown in. Defaults to none. */
            group?: string | null;
            monitor_id: string;
        };
        /**
         * @description The status of a monitor on a status page.
         * @enum {string}
         */
        StatusPageMonitorStatus: "pending" | "up" | "degraded" | "down" | "paused" | "under_maintenance";
        /**
         * @description The status of a status page.
         * @enum {string}
         */
        StatusPageStatus: "operational" | "under_maintenance" | "degraded_performance" | "partial_outage" | "major_outage";
        /** @description A status page in a list. */
        StatusPageSummary: {
            custom_domain: string | null;
            id: string;
            /** Format: uint */
            monitors_count: number;
            name: string;
            status: components["schemas"]["StatusPageStatus"];
            subdomain: string;
        };
        /** @description A subscriber of a status page. */
        Subscriber: {
            /** @description Whether the owner of the address has confirmed it. */
            confirmed: boolean;
            /** Format: date-time */
            confirmed_at: string | null;
            /** Format: date-time */
            created_at: string;
            email: string;
            id: string;
        };
        /** @description The subscribers of a status page, newest first. */
        SubscriberList: {
            subscribers: components["schemas"]["Subscriber"][];
        };
        /** @description What became of a subscription. */
        Subscription: {
            message: string;
            /** @description Always `pending`: whether the address is known is not said. */
            status: string;
        };
        /** @description An address that is to get mails. */
        SubscriptionInput: {
            email: string;
        };
        /** @description A sync. */
        Sync: {
            branch: string | null;
            /** @description The commit that was indexed, or is still. */
            commit: string | null;
            /**
             * Format: date-time
             * @description When it completed or failed.
             */
            completed_at: string | null;
            /** @description Why it failed. */
            error: components["schemas"]["SyncFailure"] | null;
            /** @description Only while it runs. */
            progress: components["schemas"]["SyncProgress"] | null;
            /** Format: date-time */
            started_at: string;
            stats: components["schemas"]["SyncStats"];
            status: components["schemas"]["SyncStatus"];
            sync_id: string;
            trigger: components["schemas"]["SyncTrigger"];
        };
        /** @description Why a sync failed. */
        SyncFailure: {
            /** Format: date-time */
            at: string;
            /**
             * @description Such as `authentication_failed`, `branch_not_found`, `repository_not_found`,
             *     `empty_repository`, `unreachable`, `too_large`, `timed_out` or `git_failed`.
             */
            code: string;
            message: string;
        };
        /** @description Syncs, newest first. */
        SyncList: {
            syncs: components["schemas"]["Sync"][];
        };
        /** @description How far a sync is. */
        SyncProgress: {
            /** Format: uint64 */
            files_done: number;
            /** Format: uint64 */
            files_total: number;
            step: components["schemas"]["SyncStep"];
        };
        /** @description What a sync has done; zeros until it has completed. */
        SyncStats: {
            /**
             * Format: uint64
             * @description Chunks of these files.
             */
            chunks_created: number;
            /**
             * Format: uint64
             * @description New and changed files, which were read.
             */
            files_processed: number;
            /** Format: uint64 */
            files_removed: number;
            /** @description Files of the commit that are not indexed, by reason. */
            files_skipped: components["schemas"]["SkippedFiles"];
            /** Format: uint64 */
            files_unchanged: number;
            /**
             * Format: uint64
             * @description Pages of the wiki and diagrams; none if the commit is the one before.
             */
            pages_generated: number;
        };
        /**
         * @description How far a sync is.
         * @enum {string}
         */
        SyncStatus: "started" | "completed" | "failed";
        /**
         * @description What a sync does now.
         * @enum {string}
         */
        SyncStep: "fetching" | "reading" | "indexing";
        /**
         * @description Why a sync began.
         * @enum {string}
         */
        SyncTrigger: "created" | "requested" | "changed" | "automatic";
        /** @description The value of each column, by name. */
        TableRow: {
            [key: string]: string | number | null;
        };
        /** @description The order of a table's rows. */
        TableSort: {
            /** @description A column, as in `columns`. */
            field: string;
            /**
             * @description Defaults to descending.
             * @default desc
             */
            order: components["schemas"]["SortOrder"];
        };
        /** @description The order of a table's rows. */
        TableSortInput: {
            /** @description A column, as in `columns`. */
            field: string;
            /**
             * @description Defaults to descending.
             * @default desc
             */
            order?: components["schemas"]["SortOrder"];
        };
        /** @description A tag key of a metric. */
        TagKey: {
            key: string;
            /**
             * Format: uint64
             * @description The number of distinct values.
             */
            values: number;
        };
        /** @description `{"data": […], "meta": {…}}` */
        TagKeyPage: {
            /** @description The items of the page. */
            data: components["schemas"]["TagKey"][];
            /** @description The position of the page in the list. */
            meta: components["schemas"]["PageMeta"];
        };
        /** @description A value of a tag. */
        TagValue: {
            /**
             * Format: uint64
             * @description The number of series that have it.
             */
            series: number;
            value: string;
        };
        /** @description `{"data": […], "meta": {…}}` */
        TagValuePage: {
            /** @description The items of the page. */
            data: components["schemas"]["TagValue"][];
            /** @description The position of the page in the list. */
            meta: components["schemas"]["PageMeta"];
        };
        /** @description The result of a combined batch. */
        TelemetryBatchAnswer: {
            events: components["schemas"]["BatchAnswer"];
            metrics: components["schemas"]["BatchAnswer"];
        };
        TelemetryBatchAnswerData: {
            data: components["schemas"]["TelemetryBatchAnswer"];
        };
        /** @description Up to 500 items in all. */
        TelemetryBatchInput: {
            events?: components["schemas"]["EventInput"][] | null;
            metrics?: components["schemas"]["MetricInput"][] | null;
        };
        /**
         * @description What a number from a threshold on means.
         * @enum {string}
         */
        ThresholdLevel: "good" | "warning" | "critical";
        /** @description A worker whose status was changed. */
        ToldWorker: {
            id: string;
            message: string;
            status: string;
        };
        /** @description An event that was stored. */
        TrackedEvent: {
            id: string;
            name: string;
            /** Format: date-time */
            timestamp: string;
            user_id: string | null;
            value: number | null;
        };
        TrackedEventData: {
            data: components["schemas"]["TrackedEvent"];
        };
        /** @description A sample that was stored. */
        TrackedMetric: {
            name: string;
            /** Format: date-time */
            timestamp: string;
            type: string;
            value: components["schemas"]["TrackedValue"];
        };
        TrackedMetricData: {
            data: components["schemas"]["TrackedMetric"];
        };
        /** @description A number, or the member of a set. */
        TrackedValue: number | string;
        /** @description A person that the server knows. */
        User: {
            /** @description Whether errors are assigned to the user. */
            assignee: boolean;
            /**
             * Format: uint
             * @description The number of valid keys.
             */
            keys: number;
            /**
             * Format: date-time
             * @description When a key was last used; null if none was.
             */
            last_seen: string | null;
            /** @description Whether the user is a member of an on-call schedule. */
            on_call_member: boolean;
            /** @description The user of keys, the member of schedules, the assignee of errors: mostly an email address. */
            user: string;
        };
        /** @description `{"data": […], "meta": {…}}` */
        UserPage: {
            /** @description The items of the page. */
            data: components["schemas"]["User"][];
            /** @description The position of the page in the list. */
            meta: components["schemas"]["PageMeta"];
        };
        /** @description Why a comparison is approved or rejected. */
        VerdictInput: {
            reason?: string | null;
        };
        /** @description The result of a verification. */
        Verified: {
            /** Format: uint64 */
            blocks: number;
            /** Format: uint64 */
            bytes: number;
            /** @description Corrupt data and its location, one line each. */
            damaged: string[];
            /** Format: uint64 */
            documents: number;
            /** Format: uint64 */
            files: number;
            /** Format: uint64 */
            log_records: number;
            /** @description Whether no corrupt data was found. */
            ok: boolean;
            /** Format: uint64 */
            records: number;
        };
        VerifiedData: {
            data: components["schemas"]["Verified"];
        };
        /** @description The size of the window in which a page is shown, in CSS pixels. */
        Viewport: {
            /** Format: uint32 */
            height: number;
            /** Format: uint32 */
            width: number;
        };
        /** @description The size of the window in which a page is shown, in CSS pixels. */
        ViewportInput: {
            /** Format: uint32 */
            height?: number;
            /** Format: uint32 */
            width?: number;
        };
        /** @description A widget; includes its values when its dashboard is read. */
        Widget: {
            cells?: components["schemas"]["WidgetCell"][];
            change_percent?: number | null;
            columns?: components["schemas"]["WidgetLines"];
            /** Format: date-time */
            created_at: string;
            error?: components["schemas"]["WidgetFailure"];
            groups?: {
                [key: string]: components["schemas"]["WidgetPoint"][];
            };
            id: string;
            items?: components["schemas"]["WidgetItem"][];
            options: components["schemas"]["WidgetOptions"];
            position: components["schemas"]["WidgetPosition"];
            previous_value?: number | null;
            query: components["schemas"]["WidgetQuery"];
            rows?: components["schemas"]["TableRow"][];
            series?: components["schemas"]["WidgetPoint"][];
            title: string;
            type: components["schemas"]["WidgetType"];
            value?: number | null;
        };
        /** @description A cell of a heatmap. */
        WidgetCell: {
            value: number;
            /** Format: uint32 */
            x: number;
            /** Format: uint32 */
            y: number;
        };
        /** @description What a number is compared with. */
        WidgetComparison: {
            /** @description `previous_period`: the same query over the preceding range of equal length. */
            type: string;
        };
        WidgetData: {
            data: components["schemas"]["Widget"];
        };
        /** @description The definition of a widget. */
        WidgetDefinition: {
            options: components["schemas"]["WidgetOptions"];
            position: components["schemas"]["WidgetPosition"];
            query: components["schemas"]["WidgetQuery"];
            title: string;
            type: components["schemas"]["WidgetType"];
        };
        /** @description The error of a widget. */
        WidgetFailure: {
            code: string;
            message: string;
        };
        /** @description How numbers are formatted. */
        WidgetFormat: {
            /**
             * Format: uint8
             * @description The number of digits after the decimal point.
             */
            decimals?: number | null;
            /** @description A string before the number. */
            prefix?: string | null;
            /** @description A string after the number. */
            suffix?: string | null;
        };
        /** @description A new widget. */
        WidgetInput: {
            options?: components["schemas"]["WidgetOptionsInput"] | null;
            /** @description Defaults to the start of the next free row, 4 columns wide and 3 rows high. */
            position?: components["schemas"]["WidgetPosition"] | null;
            query: components["schemas"]["WidgetQuery"];
            title: string;
            type: components["schemas"]["WidgetType"];
        };
        /** @description A labelled number. */
        WidgetItem: {
            label: string;
            value: number;
        };
        /** @description A line of a graph. */
        WidgetLine: {
            /** @description The label of the group; absent without `group_by`. */
            label?: string | null;
            /** @description A value for each time; null where the line has none. */
            values: (number | null)[];
        };
        /** @description The lines of a graph, over the same times. */
        WidgetLines: {
            lines: components["schemas"]["WidgetLine"][];
            /**
             * @description The starts of the buckets in which a line has a value, in milliseconds since 1970,
             *     ascending.
             */
            times: number[];
        };
        WidgetListData: {
            data: components["schemas"]["Widget"][];
        };
        /** @description The new position of a widget. */
        WidgetMoveInput: {
            /** Format: uint32 */
            height: number;
            id: string;
            /** Format: uint32 */
            width: number;
            /** Format: uint32 */
            x: number;
            /** Format: uint32 */
            y: number;
        };
        /** @description The options of a widget. All are optional; each applies only to some types. */
        WidgetOptions: {
            /**
             * @description table: the columns of each row: keys of `group_by` (with or without `tags.`), `label`,
             *     `value`, or any aggregation. Defaults to the keys of `group_by` and `value`.
             */
            columns?: string[] | null;
            /** @description number: what the value is compared with. */
            comparison?: components["schemas"]["WidgetComparison"] | null;
            /** @description How numbers are formatted. */
            format?: components["schemas"]["WidgetFormat"] | null;
            /**
             * Format: uint32
             * @description bar, pie, table: the maximum number of items or rows, 1 to 1000; defaults to 10.
             */
            limit?: number | null;
            /** @description bar: the orientation of the bars. */
            orientation?: components["schemas"]["BarOrientation"] | null;
            /** @description graph, bar, pie: whether a legend is displayed. */
            show_legend?: boolean | null;
            /** @description table: the order of the rows; defaults to descending by `value`. */
            sort?: components["schemas"]["TableSort"] | null;
            /** @description graph: the drawing style. */
            style?: components["schemas"]["GraphStyle"] | null;
            /** @description number, graph, bar, table: values from which on a number is displayed differently. */
            thresholds?: components["schemas"]["WidgetThreshold"][] | null;
            /**
             * @description The range up to now that the widget covers: `<n>m`, `h`, `d` or `w`; defaults to 24h.
             * @example 24h
             */
            time_range?: string | null;
            /** @description heatmap: the horizontal axis; defaults to the hour of the day. */
            x_axis?: components["schemas"]["HeatmapAxis"] | null;
            /** @description heatmap: the vertical axis; defaults to the day of the week. */
            y_axis?: components["schemas"]["HeatmapAxis"] | null;
        };
        /** @description The options of a widget. All are optional; each applies only to some types. */
        WidgetOptionsInput: {
            /**
             * @description table: the columns of each row: keys of `group_by` (with or without `tags.`), `label`,
             *     `value`, or any aggregation. Defaults to the keys of `group_by` and `value`.
             */
            columns?: string[] | null;
            /** @description number: what the value is compared with. */
            comparison?: components["schemas"]["WidgetComparison"] | null;
            /** @description How numbers are formatted. */
            format?: components["schemas"]["WidgetFormat"] | null;
            /**
             * Format: uint32
             * @description bar, pie, table: the maximum number of items or rows, 1 to 1000; defaults to 10.
             */
            limit?: number | null;
            /** @description bar: the orientation of the bars. */
            orientation?: components["schemas"]["BarOrientation"] | null;
            /** @description graph, bar, pie: whether a legend is displayed. */
            show_legend?: boolean | null;
            /** @description table: the order of the rows; defaults to descending by `value`. */
            sort?: components["schemas"]["TableSortInput"] | null;
            /** @description graph: the drawing style. */
            style?: components["schemas"]["GraphStyle"] | null;
            /** @description number, graph, bar, table: values from which on a number is displayed differently. */
            thresholds?: components["schemas"]["WidgetThreshold"][] | null;
            /**
             * @description The range up to now that the widget covers: `<n>m`, `h`, `d` or `w`; defaults to 24h.
             * @example 24h
             */
            time_range?: string | null;
            /** @description heatmap: the horizontal axis; defaults to the hour of the day. */
            x_axis?: components["schemas"]["HeatmapAxis"] | null;
            /** @description heatmap: the vertical axis; defaults to the day of the week. */
            y_axis?: components["schemas"]["HeatmapAxis"] | null;
        };
        /**
         * @description A change of a widget; absent fields are unchanged, `query` and `options` are replaced as a
         *     whole.
         */
        WidgetPatch: {
            /** @description `null` removes all options. */
            options?: components["schemas"]["WidgetOptionsInput"] | null;
            /** @description `null` moves the widget to the next free row. */
            position?: components["schemas"]["WidgetPosition"] | null;
            query?: components["schemas"]["WidgetQuery"];
            title?: string;
        };
        /** @description A point of a graph. */
        WidgetPoint: {
            /** Format: date-time */
            timestamp: string;
            value: number;
        };
        /** @description A position and size on a grid of 12 columns. */
        WidgetPosition: {
            /**
             * Format: uint32
             * @description The height in rows.
             */
            height: number;
            /**
             * Format: uint32
             * @description The width in columns.
             */
            width: number;
            /**
             * Format: uint32
             * @description The number of columns to the left of the widget.
             */
            x: number;
            /**
             * Format: uint32
             * @description The number of rows above the widget.
             */
            y: number;
        };
        /** @description The values of a widget that is not stored. */
        WidgetPreview: {
            cells?: components["schemas"]["WidgetCell"][];
            change_percent?: number | null;
            columns?: components["schemas"]["WidgetLines"];
            error?: components["schemas"]["WidgetFailure"];
            /**
             * Format: date-time
             * @description The start of the range, inclusive.
             */
            from: string;
            groups?: {
                [key: string]: components["schemas"]["WidgetPoint"][];
            };
            items?: components["schemas"]["WidgetItem"][];
            previous_value?: number | null;
            rows?: components["schemas"]["TableRow"][];
            series?: components["schemas"]["WidgetPoint"][];
            /**
             * Format: date-time
             * @description The end of the range, exclusive.
             */
            to: string;
            type: components["schemas"]["WidgetType"];
            value?: number | null;
        };
        WidgetPreviewData: {
            data: components["schemas"]["WidgetPreview"];
        };
        /** @description A widget that is not stored. */
        WidgetPreviewInput: {
            options?: components["schemas"]["WidgetOptionsInput"] | null;
            query: components["schemas"]["WidgetQuery"];
            type: components["schemas"]["WidgetType"];
            /** @description The variables whose values `var[name]` chooses. */
            variables?: components["schemas"]["DashboardVariable"][] | null;
        };
        /** @description A query of exactly one of `metric` and `event`. */
        WidgetQuery: {
            /**
             * @description For a metric, an aggregation of its type; for events, one of count, sum, avg, min, max, p50,
             *     p95, p99, unique_users. Defaults to the default of the metric type, or count.
             */
            aggregation?: string | null;
            /** @description The name of the events, or a prefix of it followed by `*`. */
            event?: string | null;
            /** @description The number of each event to aggregate: `value`, or a path in the properties. */
            field?: string | null;
            /**
             * @description `tags.<key>`; for metrics, up to 4 of these separated by commas; for events, also `user_id`
             *     or `name`.
             */
            group_by?: string | null;
            /**
             * @description The bucket width of a graph: a number of seconds, minutes, hours or days, such as `10s` or
             *     `6h`. Defaults to the finest of 1m, 5m, 1h and 1d that gives at most 1500 buckets.
             */
            interval?: string | null;
            /** @description The name of the metric, which need not exist yet. */
            metric?: string | null;
            /** @description Filters by tag key: `v` (equal), `a,b` (one of), `!v` (not equal), `v*` (prefix). */
            tags?: {
                [key: string]: string;
            } | null;
        };
        /** @description The values of a widget over a range. */
        WidgetShown: {
            cells?: components["schemas"]["WidgetCell"][];
            change_percent?: number | null;
            columns?: components["schemas"]["WidgetLines"];
            error?: components["schemas"]["WidgetFailure"];
            /**
             * Format: date-time
             * @description The start of the range, inclusive.
             */
            from: string;
            groups?: {
                [key: string]: components["schemas"]["WidgetPoint"][];
            };
            id: string;
            items?: components["schemas"]["WidgetItem"][];
            previous_value?: number | null;
            rows?: components["schemas"]["TableRow"][];
            series?: components["schemas"]["WidgetPoint"][];
            /**
             * Format: date-time
             * @description The end of the range, exclusive.
             */
            to: string;
            type: components["schemas"]["WidgetType"];
            value?: number | null;
        };
        WidgetShownData: {
            data: components["schemas"]["WidgetShown"];
        };
        /** @description A value from which on a number is displayed differently, up to the next larger threshold. */
        WidgetThreshold: {
            /** @description A string beside the line of a graph. */
            label?: string | null;
            level: components["schemas"]["ThresholdLevel"];
            /** Format: double */
            value: number;
        };
        /**
         * @description How a widget displays the result of its query.
         * @enum {string}
         */
        WidgetType: "number" | "graph" | "bar" | "pie" | "table" | "heatmap";
        /** @description A page of a wiki. */
        WikiPage: {
            commit: string;
            /** @description The text, in Markdown. */
            content: string;
            /** @description The lines that the page is about. */
            references: components["schemas"]["WikiReference"][];
            slug: string;
            title: string;
        };
        /** @description The pages of a wiki, the overview first. */
        WikiPageList: {
            commit: string;
            pages: components["schemas"]["WikiPageSummary"][];
        };
        /** @description A page in a list. */
        WikiPageSummary: {
            /** @description Its name in URLs. */
            slug: string;
            title: string;
        };
        /** @description Lines of the commit. */
        WikiReference: {
            file_path: string;
            /** Format: uint32 */
            line_end: number;
            /** Format: uint32 */
            line_start: number;
        };
        /** @description A worker with its current jobs. */
        WorkerDetail: {
            /** Format: uint32 */
            busy_threads: number;
            /** Format: uint32 */
            concurrency: number;
            /** @description Null until reported in a heartbeat. */
            cpu_percent: number | null;
            current_jobs: components["schemas"]["WorkerJob"][];
            /** Format: uint64 */
            failed_count: number;
            hostname: string;
            id: string;
            /** Format: date-time */
            last_heartbeat: string;
            /** @description Null until reported in a heartbeat. */
            memory_mb: number | null;
            /** Format: uint32 */
            pid: number | null;
            /**
             * Format: uint64
             * @description The number of attempts that it ended, including failed ones.
             */
            processed_count: number;
            queues: string[];
            /** Format: date-time */
            started_at: string;
            /** @description `active`, `quiet` or `stopping`. */
            status: string;
        };
        /** @description The history of all workers. */
        WorkerHistory: {
            period: string;
            stats: components["schemas"]["WorkerStats"];
            timeline: components["schemas"]["WorkerPoint"][];
        };
        /** @description A worker to be registered. */
        WorkerInput: {
            /**
             * Format: int64
             * @description The number of jobs it runs concurrently; defaults to 1.
             */
            concurrency?: number | null;
            /** @description The host on which it runs. */
            hostname: string;
            /** Format: uint32 */
            pid?: number | null;
            /** @description The queues it serves, the most urgent first. */
            queues: string[];
        };
        /** @description A job that a worker holds. */
        WorkerJob: {
            class_name: string;
            job_id: string;
            run_time_seconds: number;
            /** Format: date-time */
            started_at: string;
        };
        /** @description A page of workers. */
        WorkerList: {
            summary: components["schemas"]["WorkerThreads"];
            workers: components["schemas"]["WorkerSummary"][];
        };
        /** @description One bucket of a period. */
        WorkerPoint: {
            /**
             * Format: uint64
             * @description The number of attempts that ended.
             */
            throughput: number;
            /** Format: date-time */
            timestamp: string;
            /** @description The fraction of busy threads, from 0 to 1; null if the server was down. */
            utilization: number | null;
            /** @description The average number of workers; null if the server was down. */
            workers: number | null;
        };
        /** @description The statistics of a period. */
        WorkerStats: {
            avg_memory_mb: number;
            /** @description The fraction of busy threads, from 0 to 1. */
            avg_utilization: number;
            avg_workers: number;
            max_memory_mb: number;
            max_workers: number;
            min_workers: number;
            /** Format: uint64 */
            total_failed: number;
            /** Format: uint64 */
            total_processed: number;
        };
        /** @description A worker. */
        WorkerSummary: {
            /** Format: uint32 */
            busy_threads: number;
            /** Format: uint32 */
            concurrency: number;
            /** @description Null until reported in a heartbeat. */
            cpu_percent: number | null;
            /** Format: uint64 */
            failed_count: number;
            hostname: string;
            id: string;
            /** Format: date-time */
            last_heartbeat: string;
            /** @description Null until reported in a heartbeat. */
            memory_mb: number | null;
            /** Format: uint32 */
            pid: number | null;
            /**
             * Format: uint64
             * @description The number of attempts that it ended, including failed ones.
             */
            processed_count: number;
            queues: string[];
            /** Format: date-time */
            started_at: string;
            /** @description `active`, `quiet` or `stopping`. */
            status: string;
        };
        /** @description The thread counts of all workers. */
        WorkerThreads: {
            /** Format: uint64 */
            busy_threads: number;
            /** Format: uint64 */
            idle_threads: number;
            /** Format: uint64 */
            total_threads: number;
            /** Format: uint */
            total_workers: number;
        };
        /** @description The vitals of a worker. */
        WorkerVitalsInput: {
            /** Format: uint32 */
            busy_threads?: number | null;
            /**
             * Format: double
             * @description In percent, from 0 to 1000000000.
             */
            cpu_percent?: number | null;
            /**
             * Format: double
             * @description In megabytes, from 0 to 1000000000.
             */
            memory_mb?: number | null;
        };
        get_api_v1_openapi_json_answer: {
            [key: string]: unknown;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type AckedJob = components['schemas']['AckedJob'];
export type Alert = components['schemas']['Alert'];
export type AlertCondition = components['schemas']['AlertCondition'];
export type AlertConditionInput = components['schemas']['AlertConditionInput'];
export type AlertData = components['schemas']['AlertData'];
export type AlertDetail = components['schemas']['AlertDetail'];
export type AlertDetailData = components['schemas']['AlertDetailData'];
export type AlertEscalation = components['schemas']['AlertEscalation'];
export type AlertEvent = components['schemas']['AlertEvent'];
export type AlertNotification = components['schemas']['AlertNotification'];
export type AlertOperator = components['schemas']['AlertOperator'];
export type AlertPage = components['schemas']['AlertPage'];
export type AlertRule = components['schemas']['AlertRule'];
export type AlertRuleData = components['schemas']['AlertRuleData'];
export type AlertRuleEvaluation = components['schemas']['AlertRuleEvaluation'];
export type AlertRuleInput = components['schemas']['AlertRuleInput'];
export type AlertRulePatch = components['schemas']['AlertRulePatch'];
export type AlertRulePreview = components['schemas']['AlertRulePreview'];
export type AlertRulePreviewAlert = components['schemas']['AlertRulePreviewAlert'];
export type AlertRulePreviewData = components['schemas']['AlertRulePreviewData'];
export type AlertRulePreviewInput = components['schemas']['AlertRulePreviewInput'];
export type AlertRuleQuery = components['schemas']['AlertRuleQuery'];
export type AlertRuleSummary = components['schemas']['AlertRuleSummary'];
export type AlertRuleSummaryPage = components['schemas']['AlertRuleSummaryPage'];
export type AlertSeverity = components['schemas']['AlertSeverity'];
export type AlertmanagerAlertState = components['schemas']['AlertmanagerAlertState'];
export type AlertmanagerAlertStatus = components['schemas']['AlertmanagerAlertStatus'];
export type AlertmanagerCluster = components['schemas']['AlertmanagerCluster'];
export type AlertmanagerConfig = components['schemas']['AlertmanagerConfig'];
export type AlertmanagerReceiver = components['schemas']['AlertmanagerReceiver'];
export type AlertmanagerStatus = components['schemas']['AlertmanagerStatus'];
export type AlertmanagerVersion = components['schemas']['AlertmanagerVersion'];
export type AnswerText = components['schemas']['AnswerText'];
export type BackedUp = components['schemas']['BackedUp'];
export type BackedUpData = components['schemas']['BackedUpData'];
export type BackupInput = components['schemas']['BackupInput'];
export type BarOrientation = components['schemas']['BarOrientation'];
export type Baseline = components['schemas']['Baseline'];
export type BaselineList = components['schemas']['BaselineList'];
export type BaselineOrigin = components['schemas']['BaselineOrigin'];
export type BatchAnswer = components['schemas']['BatchAnswer'];
export type BatchAnswerData = components['schemas']['BatchAnswerData'];
export type Browser = components['schemas']['Browser'];
export type BulkError = components['schemas']['BulkError'];
export type BulkOutcome = components['schemas']['BulkOutcome'];
export type BulkOutcomeData = components['schemas']['BulkOutcomeData'];
export type Caller = components['schemas']['Caller'];
export type CallerData = components['schemas']['CallerData'];
export type CallerKey = components['schemas']['CallerKey'];
export type CaptureError = components['schemas']['CaptureError'];
export type Cardinality = components['schemas']['Cardinality'];
export type CardinalityMeta = components['schemas']['CardinalityMeta'];
export type CardinalityRow = components['schemas']['CardinalityRow'];
export type ChangedRegion = components['schemas']['ChangedRegion'];
export type Channel = components['schemas']['Channel'];
export type ChannelConfig = components['schemas']['ChannelConfig'];
export type ChannelConfigPatch = components['schemas']['ChannelConfigPatch'];
export type ChannelData = components['schemas']['ChannelData'];
export type ChannelInput = components['schemas']['ChannelInput'];
export type ChannelPatch = components['schemas']['ChannelPatch'];
export type ChannelSummary = components['schemas']['ChannelSummary'];
export type ChannelSummaryPage = components['schemas']['ChannelSummaryPage'];
export type ChannelTest = components['schemas']['ChannelTest'];
export type ChatAnswer = components['schemas']['ChatAnswer'];
export type ChatMessage = components['schemas']['ChatMessage'];
export type ChatRole = components['schemas']['ChatRole'];
export type ChatSession = components['schemas']['ChatSession'];
export type ChatSessionStart = components['schemas']['ChatSessionStart'];
export type CheckMethod = components['schemas']['CheckMethod'];
export type CheckOutcome = components['schemas']['CheckOutcome'];
export type ClassDeaths = components['schemas']['ClassDeaths'];
export type CodeDocumentation = components['schemas']['CodeDocumentation'];
export type CodeDocumentationResult = components['schemas']['CodeDocumentationResult'];
export type CodeExplanation = components['schemas']['CodeExplanation'];
export type CodeExplanationResult = components['schemas']['CodeExplanationResult'];
export type CodeFile = components['schemas']['CodeFile'];
export type CodeFileList = components['schemas']['CodeFileList'];
export type CodeFileText = components['schemas']['CodeFileText'];
export type CodeInput = components['schemas']['CodeInput'];
export type CodeMethod = components['schemas']['CodeMethod'];
export type CodeOutputs = components['schemas']['CodeOutputs'];
export type CodeParameter = components['schemas']['CodeParameter'];
export type CodeReference = components['schemas']['CodeReference'];
export type CodeSearchResult = components['schemas']['CodeSearchResult'];
export type CodeSearchResults = components['schemas']['CodeSearchResults'];
export type CodeSymbol = components['schemas']['CodeSymbol'];
export type CompareInput = components['schemas']['CompareInput'];
export type Comparison = components['schemas']['Comparison'];
export type ComparisonList = components['schemas']['ComparisonList'];
export type ComparisonStatus = components['schemas']['ComparisonStatus'];
export type ComparisonWithBaseline = components['schemas']['ComparisonWithBaseline'];
export type ConsoleSession = components['schemas']['ConsoleSession'];
export type ConsoleSessionPage = components['schemas']['ConsoleSessionPage'];
export type CurrentOnCall = components['schemas']['CurrentOnCall'];
export type Dashboard = components['schemas']['Dashboard'];
export type DashboardAnnotation = components['schemas']['DashboardAnnotation'];
export type DashboardAnnotations = components['schemas']['DashboardAnnotations'];
export type DashboardAnnotationsData = components['schemas']['DashboardAnnotationsData'];
export type DashboardCopyInput = components['schemas']['DashboardCopyInput'];
export type DashboardData = components['schemas']['DashboardData'];
export type DashboardExport = components['schemas']['DashboardExport'];
export type DashboardExportData = components['schemas']['DashboardExportData'];
export type DashboardImportInput = components['schemas']['DashboardImportInput'];
export type DashboardInput = components['schemas']['DashboardInput'];
export type DashboardLayoutInput = components['schemas']['DashboardLayoutInput'];
export type DashboardOverlay = components['schemas']['DashboardOverlay'];
export type DashboardPatch = components['schemas']['DashboardPatch'];
export type DashboardReplacement = components['schemas']['DashboardReplacement'];
export type DashboardRestoreInput = components['schemas']['DashboardRestoreInput'];
export type DashboardSummary = components['schemas']['DashboardSummary'];
export type DashboardSummaryPage = components['schemas']['DashboardSummaryPage'];
export type DashboardVariable = components['schemas']['DashboardVariable'];
export type DashboardVariableSource = components['schemas']['DashboardVariableSource'];
export type DashboardVersionSummary = components['schemas']['DashboardVersionSummary'];
export type DashboardVersionSummaryPage = components['schemas']['DashboardVersionSummaryPage'];
export type DashboardWidgetInput = components['schemas']['DashboardWidgetInput'];
export type DayDeaths = components['schemas']['DayDeaths'];
export type DeadJob = components['schemas']['DeadJob'];
export type DeadJobAnalytics = components['schemas']['DeadJobAnalytics'];
export type DeadJobFailure = components['schemas']['DeadJobFailure'];
export type DeadJobFilter = components['schemas']['DeadJobFilter'];
export type DeadJobList = components['schemas']['DeadJobList'];
export type DeadJobPagination = components['schemas']['DeadJobPagination'];
export type DeadJobSelectionInput = components['schemas']['DeadJobSelectionInput'];
export type DeadJobSummary = components['schemas']['DeadJobSummary'];
export type Deleted = components['schemas']['Deleted'];
export type DeletedData = components['schemas']['DeletedData'];
export type DeletedDeadJobs = components['schemas']['DeletedDeadJobs'];
export type DeletedMetric = components['schemas']['DeletedMetric'];
export type DeletedMetricData = components['schemas']['DeletedMetricData'];
export type DeletedMonitor = components['schemas']['DeletedMonitor'];
export type DeletedTarget = components['schemas']['DeletedTarget'];
export type DeletedTargetData = components['schemas']['DeletedTargetData'];
export type Diagram = components['schemas']['Diagram'];
export type DiagramKind = components['schemas']['DiagramKind'];
export type DiagramList = components['schemas']['DiagramList'];
export type DocumentInput = components['schemas']['DocumentInput'];
export type EmptyInput = components['schemas']['EmptyInput'];
export type EnqueuedJob = components['schemas']['EnqueuedJob'];
export type Error = components['schemas']['Error'];
export type ErrorActivity = components['schemas']['ErrorActivity'];
export type ErrorActivityData = components['schemas']['ErrorActivityData'];
export type ErrorActivityPage = components['schemas']['ErrorActivityPage'];
export type ErrorAssignInput = components['schemas']['ErrorAssignInput'];
export type ErrorBulkAnswer = components['schemas']['ErrorBulkAnswer'];
export type ErrorBulkAnswerData = components['schemas']['ErrorBulkAnswerData'];
export type ErrorBulkInput = components['schemas']['ErrorBulkInput'];
export type ErrorCommentInput = components['schemas']['ErrorCommentInput'];
export type ErrorCount = components['schemas']['ErrorCount'];
export type ErrorDeaths = components['schemas']['ErrorDeaths'];
export type ErrorDetails = components['schemas']['ErrorDetails'];
export type ErrorException = components['schemas']['ErrorException'];
export type ErrorFilter = components['schemas']['ErrorFilter'];
export type ErrorGroup = components['schemas']['ErrorGroup'];
export type ErrorGroupDetail = components['schemas']['ErrorGroupDetail'];
export type ErrorGroupDetailData = components['schemas']['ErrorGroupDetailData'];
export type ErrorGroupPage = components['schemas']['ErrorGroupPage'];
export type ErrorGroupState = components['schemas']['ErrorGroupState'];
export type ErrorGroupStateData = components['schemas']['ErrorGroupStateData'];
export type ErrorIgnoreInput = components['schemas']['ErrorIgnoreInput'];
export type ErrorInner = components['schemas']['ErrorInner'];
export type ErrorMergeInput = components['schemas']['ErrorMergeInput'];
export type ErrorOccurrence = components['schemas']['ErrorOccurrence'];
export type ErrorOccurrenceInOrder = components['schemas']['ErrorOccurrenceInOrder'];
export type ErrorOccurrenceInOrderData = components['schemas']['ErrorOccurrenceInOrderData'];
export type ErrorOccurrencePage = components['schemas']['ErrorOccurrencePage'];
export type ErrorReportException = components['schemas']['ErrorReportException'];
export type ErrorReportInput = components['schemas']['ErrorReportInput'];
export type ErrorReportUser = components['schemas']['ErrorReportUser'];
export type ErrorResolveInput = components['schemas']['ErrorResolveInput'];
export type ErrorSeries = components['schemas']['ErrorSeries'];
export type ErrorSeriesData = components['schemas']['ErrorSeriesData'];
export type ErrorSource = components['schemas']['ErrorSource'];
export type ErrorSparkline = components['schemas']['ErrorSparkline'];
export type ErrorTag = components['schemas']['ErrorTag'];
export type ErrorTagValue = components['schemas']['ErrorTagValue'];
export type ErrorTags = components['schemas']['ErrorTags'];
export type ErrorTagsData = components['schemas']['ErrorTagsData'];
export type EscalationPolicy = components['schemas']['EscalationPolicy'];
export type EscalationPolicyData = components['schemas']['EscalationPolicyData'];
export type EscalationPolicyInput = components['schemas']['EscalationPolicyInput'];
export type EscalationPolicyPatch = components['schemas']['EscalationPolicyPatch'];
export type EscalationPolicySummary = components['schemas']['EscalationPolicySummary'];
export type EscalationPolicySummaryPage = components['schemas']['EscalationPolicySummaryPage'];
export type EscalationStep = components['schemas']['EscalationStep'];
export type EscalationStepInput = components['schemas']['EscalationStepInput'];
export type EventBatchInput = components['schemas']['EventBatchInput'];
export type EventCount = components['schemas']['EventCount'];
export type EventFieldSummary = components['schemas']['EventFieldSummary'];
export type EventFields = components['schemas']['EventFields'];
export type EventFieldsMeta = components['schemas']['EventFieldsMeta'];
export type EventFunnel = components['schemas']['EventFunnel'];
export type EventFunnelData = components['schemas']['EventFunnelData'];
export type EventFunnelInput = components['schemas']['EventFunnelInput'];
export type EventFunnelStep = components['schemas']['EventFunnelStep'];
export type EventFunnelStepInput = components['schemas']['EventFunnelStepInput'];
export type EventInput = components['schemas']['EventInput'];
export type EventList = components['schemas']['EventList'];
export type EventStats = components['schemas']['EventStats'];
export type EventStatsData = components['schemas']['EventStatsData'];
export type EventTail = components['schemas']['EventTail'];
export type EventValue = components['schemas']['EventValue'];
export type EventValues = components['schemas']['EventValues'];
export type EventValuesMeta = components['schemas']['EventValuesMeta'];
export type ExpectedStatus = components['schemas']['ExpectedStatus'];
export type ExplainInput = components['schemas']['ExplainInput'];
export type ExtendedJob = components['schemas']['ExtendedJob'];
export type FailedJob = components['schemas']['FailedJob'];
export type FetchedJob = components['schemas']['FetchedJob'];
export type FetchedJobs = components['schemas']['FetchedJobs'];
export type GettableAlert = components['schemas']['GettableAlert'];
export type GraphStyle = components['schemas']['GraphStyle'];
export type HeardWorker = components['schemas']['HeardWorker'];
export type HeartbeatInput = components['schemas']['HeartbeatInput'];
export type HeartbeatStatus = components['schemas']['HeartbeatStatus'];
export type HeatmapAxis = components['schemas']['HeatmapAxis'];
export type Incident = components['schemas']['Incident'];
export type IncidentImpact = components['schemas']['IncidentImpact'];
export type IncidentInput = components['schemas']['IncidentInput'];
export type IncidentList = components['schemas']['IncidentList'];
export type IncidentPatch = components['schemas']['IncidentPatch'];
export type IncidentStatus = components['schemas']['IncidentStatus'];
export type IncidentSummary = components['schemas']['IncidentSummary'];
export type IncidentUpdate = components['schemas']['IncidentUpdate'];
export type InfluxHealth = components['schemas']['InfluxHealth'];
export type ItemError = components['schemas']['ItemError'];
export type Job = components['schemas']['Job'];
export type JobBatchAnswer = components['schemas']['JobBatchAnswer'];
export type JobBatchInput = components['schemas']['JobBatchInput'];
export type JobExtendInput = components['schemas']['JobExtendInput'];
export type JobFailInput = components['schemas']['JobFailInput'];
export type JobFailure = components['schemas']['JobFailure'];
export type JobFetchInput = components['schemas']['JobFetchInput'];
export type JobInput = components['schemas']['JobInput'];
export type JobList = components['schemas']['JobList'];
export type JobSummary = components['schemas']['JobSummary'];
export type JobTokenInput = components['schemas']['JobTokenInput'];
export type Key = components['schemas']['Key'];
export type KeyData = components['schemas']['KeyData'];
export type KeyInput = components['schemas']['KeyInput'];
export type KeyPage = components['schemas']['KeyPage'];
export type LineRangeInput = components['schemas']['LineRangeInput'];
export type MaintenanceWindow = components['schemas']['MaintenanceWindow'];
export type MaintenanceWindowData = components['schemas']['MaintenanceWindowData'];
export type MaintenanceWindowInput = components['schemas']['MaintenanceWindowInput'];
export type MaintenanceWindowPatch = components['schemas']['MaintenanceWindowPatch'];
export type MaintenanceWindowSummary = components['schemas']['MaintenanceWindowSummary'];
export type MaintenanceWindowSummaryPage = components['schemas']['MaintenanceWindowSummaryPage'];
export type Merged = components['schemas']['Merged'];
export type MergedData = components['schemas']['MergedData'];
export type Metric = components['schemas']['Metric'];
export type MetricBatchInput = components['schemas']['MetricBatchInput'];
export type MetricDetail = components['schemas']['MetricDetail'];
export type MetricDetailData = components['schemas']['MetricDetailData'];
export type MetricInput = components['schemas']['MetricInput'];
export type MetricPage = components['schemas']['MetricPage'];
export type MetricQueryAnswer = components['schemas']['MetricQueryAnswer'];
export type MetricQueryAnswerData = components['schemas']['MetricQueryAnswerData'];
export type MetricQueryAnswerListData = components['schemas']['MetricQueryAnswerListData'];
export type Monitor = components['schemas']['Monitor'];
export type MonitorCheck = components['schemas']['MonitorCheck'];
export type MonitorDay = components['schemas']['MonitorDay'];
export type MonitorHistory = components['schemas']['MonitorHistory'];
export type MonitorInput = components['schemas']['MonitorInput'];
export type MonitorList = components['schemas']['MonitorList'];
export type MonitorPatch = components['schemas']['MonitorPatch'];
export type MonitorStatus = components['schemas']['MonitorStatus'];
export type MonitorStatusChange = components['schemas']['MonitorStatusChange'];
export type MonitorType = components['schemas']['MonitorType'];
export type MonitorUptime = components['schemas']['MonitorUptime'];
export type NewComparison = components['schemas']['NewComparison'];
export type NewKeyAnswer = components['schemas']['NewKeyAnswer'];
export type NewKeyAnswerData = components['schemas']['NewKeyAnswerData'];
export type NumberMetricInput = components['schemas']['NumberMetricInput'];
export type OnCallCalendarLink = components['schemas']['OnCallCalendarLink'];
export type OnCallCalendarLinkData = components['schemas']['OnCallCalendarLinkData'];
export type OnCallDay = components['schemas']['OnCallDay'];
export type OnCallDayInput = components['schemas']['OnCallDayInput'];
export type OnCallOverride = components['schemas']['OnCallOverride'];
export type OnCallOverrideData = components['schemas']['OnCallOverrideData'];
export type OnCallOverrideInput = components['schemas']['OnCallOverrideInput'];
export type OnCallSchedule = components['schemas']['OnCallSchedule'];
export type OnCallScheduleData = components['schemas']['OnCallScheduleData'];
export type OnCallScheduleInput = components['schemas']['OnCallScheduleInput'];
export type OnCallSchedulePatch = components['schemas']['OnCallSchedulePatch'];
export type OnCallScheduleSummary = components['schemas']['OnCallScheduleSummary'];
export type OnCallScheduleSummaryPage = components['schemas']['OnCallScheduleSummaryPage'];
export type OnCallShift = components['schemas']['OnCallShift'];
export type OnCallShiftListData = components['schemas']['OnCallShiftListData'];
export type OnCallWeek = components['schemas']['OnCallWeek'];
export type OnCallWeekInput = components['schemas']['OnCallWeekInput'];
export type OtlpExportAnswer = components['schemas']['OtlpExportAnswer'];
export type OtlpPartialSuccess = components['schemas']['OtlpPartialSuccess'];
export type PageMeta = components['schemas']['PageMeta'];
export type PausedQueue = components['schemas']['PausedQueue'];
export type PixelArea = components['schemas']['PixelArea'];
export type PixelAreaInput = components['schemas']['PixelAreaInput'];
export type PostableAlert = components['schemas']['PostableAlert'];
export type Preferences = components['schemas']['Preferences'];
export type PreferencesData = components['schemas']['PreferencesData'];
export type PreferencesInput = components['schemas']['PreferencesInput'];
export type PublicComponent = components['schemas']['PublicComponent'];
export type PublicComponentStatus = components['schemas']['PublicComponentStatus'];
export type PublicIncident = components['schemas']['PublicIncident'];
export type PublicIncidentUpdate = components['schemas']['PublicIncidentUpdate'];
export type PublicMaintenance = components['schemas']['PublicMaintenance'];
export type PublicPageStatus = components['schemas']['PublicPageStatus'];
export type PublicStatus = components['schemas']['PublicStatus'];
export type PurgedQueue = components['schemas']['PurgedQueue'];
export type QuestionInput = components['schemas']['QuestionInput'];
export type QueueClassCount = components['schemas']['QueueClassCount'];
export type QueueDetail = components['schemas']['QueueDetail'];
export type QueueHistory = components['schemas']['QueueHistory'];
export type QueueList = components['schemas']['QueueList'];
export type QueuePoint = components['schemas']['QueuePoint'];
export type QueuePurgeInput = components['schemas']['QueuePurgeInput'];
export type QueueStats = components['schemas']['QueueStats'];
export type QueueSummary = components['schemas']['QueueSummary'];
export type QueueThroughput = components['schemas']['QueueThroughput'];
export type QuietedWorkers = components['schemas']['QuietedWorkers'];
export type Quota = components['schemas']['Quota'];
export type ReceivedAlertsQuery = components['schemas']['ReceivedAlertsQuery'];
export type RefusedRequest = components['schemas']['RefusedRequest'];
export type RegisteredWorker = components['schemas']['RegisteredWorker'];
export type RejectedJob = components['schemas']['RejectedJob'];
export type ReportedError = components['schemas']['ReportedError'];
export type ReportedErrorData = components['schemas']['ReportedErrorData'];
export type Repository = components['schemas']['Repository'];
export type RepositoryInput = components['schemas']['RepositoryInput'];
export type RepositoryList = components['schemas']['RepositoryList'];
export type RepositoryPatch = components['schemas']['RepositoryPatch'];
export type RepositorySettings = components['schemas']['RepositorySettings'];
export type RepositoryStats = components['schemas']['RepositoryStats'];
export type RepositoryStatus = components['schemas']['RepositoryStatus'];
export type RepositorySummary = components['schemas']['RepositorySummary'];
export type ResumedQueue = components['schemas']['ResumedQueue'];
export type RetriedDeadJob = components['schemas']['RetriedDeadJob'];
export type RetriedDeadJobs = components['schemas']['RetriedDeadJobs'];
export type ScheduledMaintenance = components['schemas']['ScheduledMaintenance'];
export type ScheduledMaintenanceInput = components['schemas']['ScheduledMaintenanceInput'];
export type ScheduledMaintenanceList = components['schemas']['ScheduledMaintenanceList'];
export type ScheduledMaintenancePatch = components['schemas']['ScheduledMaintenancePatch'];
export type ScheduledMaintenanceStatus = components['schemas']['ScheduledMaintenanceStatus'];
export type ScheduledMaintenanceSummary = components['schemas']['ScheduledMaintenanceSummary'];
export type Sealed = components['schemas']['Sealed'];
export type SealedData = components['schemas']['SealedData'];
export type SearchItem = components['schemas']['SearchItem'];
export type SearchKind = components['schemas']['SearchKind'];
export type SearchResult = components['schemas']['SearchResult'];
export type SearchResultData = components['schemas']['SearchResultData'];
export type SentryAnswer = components['schemas']['SentryAnswer'];
export type ServerDescription = components['schemas']['ServerDescription'];
export type ServerDescriptionData = components['schemas']['ServerDescriptionData'];
export type ServerHealth = components['schemas']['ServerHealth'];
export type ServerIndex = components['schemas']['ServerIndex'];
export type ServerReadiness = components['schemas']['ServerReadiness'];
export type SessionInput = components['schemas']['SessionInput'];
export type SessionState = components['schemas']['SessionState'];
export type SessionStateData = components['schemas']['SessionStateData'];
export type SetMetricInput = components['schemas']['SetMetricInput'];
export type SignInCode = components['schemas']['SignInCode'];
export type SignInCodeData = components['schemas']['SignInCodeData'];
export type SignInInput = components['schemas']['SignInInput'];
export type SkippedFiles = components['schemas']['SkippedFiles'];
export type Snapshot = components['schemas']['Snapshot'];
export type SnapshotInput = components['schemas']['SnapshotInput'];
export type SnapshotList = components['schemas']['SnapshotList'];
export type SnapshotStatus = components['schemas']['SnapshotStatus'];
export type SnapshotSummary = components['schemas']['SnapshotSummary'];
export type SortOrder = components['schemas']['SortOrder'];
export type StartedSync = components['schemas']['StartedSync'];
export type StatusOrRange = components['schemas']['StatusOrRange'];
export type StatusPage = components['schemas']['StatusPage'];
export type StatusPageBranding = components['schemas']['StatusPageBranding'];
export type StatusPageBrandingInput = components['schemas']['StatusPageBrandingInput'];
export type StatusPageChange = components['schemas']['StatusPageChange'];
export type StatusPageInput = components['schemas']['StatusPageInput'];
export type StatusPageList = components['schemas']['StatusPageList'];
export type StatusPageMonitor = components['schemas']['StatusPageMonitor'];
export type StatusPageMonitorInput = components['schemas']['StatusPageMonitorInput'];
export type StatusPageMonitorStatus = components['schemas']['StatusPageMonitorStatus'];
export type StatusPageStatus = components['schemas']['StatusPageStatus'];
export type StatusPageSummary = components['schemas']['StatusPageSummary'];
export type Subscriber = components['schemas']['Subscriber'];
export type SubscriberList = components['schemas']['SubscriberList'];
export type Subscription = components['schemas']['Subscription'];
export type SubscriptionInput = components['schemas']['SubscriptionInput'];
export type Sync = components['schemas']['Sync'];
export type SyncFailure = components['schemas']['SyncFailure'];
export type SyncList = components['schemas']['SyncList'];
export type SyncProgress = components['schemas']['SyncProgress'];
export type SyncStats = components['schemas']['SyncStats'];
export type SyncStatus = components['schemas']['SyncStatus'];
export type SyncStep = components['schemas']['SyncStep'];
export type SyncTrigger = components['schemas']['SyncTrigger'];
export type TableRow = components['schemas']['TableRow'];
export type TableSort = components['schemas']['TableSort'];
export type TableSortInput = components['schemas']['TableSortInput'];
export type TagKey = components['schemas']['TagKey'];
export type TagKeyPage = components['schemas']['TagKeyPage'];
export type TagValue = components['schemas']['TagValue'];
export type TagValuePage = components['schemas']['TagValuePage'];
export type TelemetryBatchAnswer = components['schemas']['TelemetryBatchAnswer'];
export type TelemetryBatchAnswerData = components['schemas']['TelemetryBatchAnswerData'];
export type TelemetryBatchInput = components['schemas']['TelemetryBatchInput'];
export type ThresholdLevel = components['schemas']['ThresholdLevel'];
export type ToldWorker = components['schemas']['ToldWorker'];
export type TrackedEvent = components['schemas']['TrackedEvent'];
export type TrackedEventData = components['schemas']['TrackedEventData'];
export type TrackedMetric = components['schemas']['TrackedMetric'];
export type TrackedMetricData = components['schemas']['TrackedMetricData'];
export type TrackedValue = components['schemas']['TrackedValue'];
export type User = components['schemas']['User'];
export type UserPage = components['schemas']['UserPage'];
export type VerdictInput = components['schemas']['VerdictInput'];
export type Verified = components['schemas']['Verified'];
export type VerifiedData = components['schemas']['VerifiedData'];
export type Viewport = components['schemas']['Viewport'];
export type ViewportInput = components['schemas']['ViewportInput'];
export type Widget = components['schemas']['Widget'];
export type WidgetCell = components['schemas']['WidgetCell'];
export type WidgetComparison = components['schemas']['WidgetComparison'];
export type WidgetData = components['schemas']['WidgetData'];
export type WidgetDefinition = components['schemas']['WidgetDefinition'];
export type WidgetFailure = components['schemas']['WidgetFailure'];
export type WidgetFormat = components['schemas']['WidgetFormat'];
export type WidgetInput = components['schemas']['WidgetInput'];
export type WidgetItem = components['schemas']['WidgetItem'];
export type WidgetLine = components['schemas']['WidgetLine'];
export type WidgetLines = components['schemas']['WidgetLines'];
export type WidgetListData = components['schemas']['WidgetListData'];
export type WidgetMoveInput = components['schemas']['WidgetMoveInput'];
export type WidgetOptions = components['schemas']['WidgetOptions'];
export type WidgetOptionsInput = components['schemas']['WidgetOptionsInput'];
export type WidgetPatch = components['schemas']['WidgetPatch'];
export type WidgetPoint = components['schemas']['WidgetPoint'];
export type WidgetPosition = components['schemas']['WidgetPosition'];
export type WidgetPreview = components['schemas']['WidgetPreview'];
export type WidgetPreviewData = components['schemas']['WidgetPreviewData'];
export type WidgetPreviewInput = components['schemas']['WidgetPreviewInput'];
export type WidgetQuery = components['schemas']['WidgetQuery'];
export type WidgetShown = components['schemas']['WidgetShown'];
export type WidgetShownData = components['schemas']['WidgetShownData'];
export type WidgetThreshold = components['schemas']['WidgetThreshold'];
export type WidgetType = components['schemas']['WidgetType'];
export type WikiPage = components['schemas']['WikiPage'];
export type WikiPageList = components['schemas']['WikiPageList'];
export type WikiPageSummary = components['schemas']['WikiPageSummary'];
export type WikiReference = components['schemas']['WikiReference'];
export type WorkerDetail = components['schemas']['WorkerDetail'];
export type WorkerHistory = components['schemas']['WorkerHistory'];
export type WorkerInput = components['schemas']['WorkerInput'];
export type WorkerJob = components['schemas']['WorkerJob'];
export type WorkerList = components['schemas']['WorkerList'];
export type WorkerPoint = components['schemas']['WorkerPoint'];
export type WorkerStats = components['schemas']['WorkerStats'];
export type WorkerSummary = components['schemas']['WorkerSummary'];
export type WorkerThreads = components['schemas']['WorkerThreads'];
export type WorkerVitalsInput = components['schemas']['WorkerVitalsInput'];
export type GetApiV1OpenapiJsonAnswer = components['schemas']['get_api_v1_openapi_json_answer'];
export interface Answers {
    "POST /admin/backup": BackedUpData;
    "POST /admin/merge": MergedData;
    "POST /admin/seal": SealedData;
    "POST /admin/verify": VerifiedData;
    "GET /alert_rules": AlertRuleSummaryPage;
    "POST /alert_rules": AlertRuleData;
    "POST /alert_rules/preview": AlertRulePreviewData;
    "DELETE /alert_rules/{}": DeletedData;
    "GET /alert_rules/{}": AlertRuleData;
    "PATCH /alert_rules/{}": AlertRuleData;
    "GET /alerts": AlertPage;
    "GET /alerts/{}": AlertDetailData;
    "POST /alerts/{}/acknowledge": AlertData;
    "POST /alerts/{}/resolve": AlertData;
    "GET /baselines": BaselineList;
    "DELETE /baselines/{}": Deleted;
    "GET /baselines/{}": Baseline;
    "POST /baselines/{}/restore": Baseline;
    "GET /cardinality": Cardinality;
    "GET /channels": ChannelSummaryPage;
    "POST /channels": ChannelData;
    "DELETE /channels/{}": DeletedTargetData;
    "GET /channels/{}": ChannelData;
    "PATCH /channels/{}": ChannelData;
    "POST /channels/{}/rotate_secret": ChannelData;
    "POST /channels/{}/test": ChannelTest;
    "POST /chat": ChatAnswer;
    "POST /chat/sessions": ChatSessionStart;
    "DELETE /chat/sessions/{}": Deleted;
    "GET /chat/sessions/{}": ChatSession;
    "GET /comparisons": ComparisonList;
    "DELETE /comparisons/{}": Deleted;
    "GET /comparisons/{}": Comparison;
    "POST /comparisons/{}/approve": Comparison;
    "POST /comparisons/{}/reject": Comparison;
    "POST /comparisons/{}/update_baseline": ComparisonWithBaseline;
    "GET /dashboards": DashboardSummaryPage;
    "POST /dashboards": DashboardData;
    "POST /dashboards/import": DashboardData;
    "POST /dashboards/preview": WidgetPreviewData;
    "DELETE /dashboards/{}": DeletedData;
    "GET /dashboards/{}": DashboardData;
    "PATCH /dashboards/{}": DashboardData;
    "PUT /dashboards/{}": DashboardData;
    "GET /dashboards/{}/annotations": DashboardAnnotationsData;
    "POST /dashboards/{}/duplicate": DashboardData;
    "GET /dashboards/{}/export": DashboardExportData;
    "PATCH /dashboards/{}/layout": WidgetListData;
    "POST /dashboards/{}/restore": DashboardData;
    "GET /dashboards/{}/versions": DashboardVersionSummaryPage;
    "GET /dashboards/{}/versions/{}": DashboardData;
    "POST /dashboards/{}/widgets": WidgetData;
    "DELETE /dashboards/{}/widgets/{}": DeletedData;
    "PATCH /dashboards/{}/widgets/{}": WidgetData;
    "GET /dashboards/{}/widgets/{}/data": WidgetShownData;
    "DELETE /dead-jobs": DeletedDeadJobs;
    "GET /dead-jobs": DeadJobList;
    "GET /dead-jobs/analytics": DeadJobAnalytics;
    "POST /dead-jobs/retry": RetriedDeadJobs;
    "DELETE /dead-jobs/{}": Deleted;
    "GET /dead-jobs/{}": DeadJob;
    "POST /dead-jobs/{}/retry": RetriedDeadJob;
    "GET /errors": ErrorGroupPage;
    "POST /errors": ReportedErrorData;
    "POST /errors/bulk": ErrorBulkAnswerData;
    "DELETE /errors/{}": DeletedData;
    "GET /errors/{}": ErrorGroupDetailData;
    "GET /errors/{}/activity": ErrorActivityPage;
    "POST /errors/{}/assign": ErrorGroupStateData;
    "POST /errors/{}/comments": ErrorActivityData;
    "GET /errors/{}/events": ErrorOccurrencePage;
    "GET /errors/{}/events/{}": ErrorOccurrenceInOrderData;
    "POST /errors/{}/ignore": ErrorGroupStateData;
    "POST /errors/{}/merge": ErrorGroupStateData;
    "POST /errors/{}/resolve": ErrorGroupStateData;
    "GET /errors/{}/series": ErrorSeriesData;
    "GET /errors/{}/tags": ErrorTagsData;
    "POST /errors/{}/unresolve": ErrorGroupStateData;
    "GET /escalation_policies": EscalationPolicySummaryPage;
    "POST /escalation_policies": EscalationPolicyData;
    "DELETE /escalation_policies/{}": DeletedTargetData;
    "GET /escalation_policies/{}": EscalationPolicyData;
    "PATCH /escalation_policies/{}": EscalationPolicyData;
    "GET /events": EventList;
    "POST /events": TrackedEventData;
    "POST /events/batch": BatchAnswerData;
    "GET /events/count": EventCount;
    "GET /events/fields": EventFields;
    "POST /events/funnel": EventFunnelData;
    "GET /events/stats": EventStatsData;
    "GET /events/tail": EventTail;
    "GET /events/values": EventValues;
    "POST /explain": CodeExplanationResult;
    "POST /generate-docs": CodeDocumentationResult;
    "POST /import": BulkOutcomeData;
    "GET /influx/health": InfluxHealth;
    "GET /jobs": JobList;
    "POST /jobs": EnqueuedJob;
    "POST /jobs/batch": JobBatchAnswer;
    "DELETE /jobs/{}": Deleted;
    "GET /jobs/{}": Job;
    "POST /jobs/{}/ack": AckedJob;
    "POST /jobs/{}/extend": ExtendedJob;
    "POST /jobs/{}/fail": FailedJob;
    "POST /jobs/{}/run": Job;
    "GET /keys": KeyPage;
    "POST /keys": NewKeyAnswerData;
    "DELETE /keys/{}": DeletedData;
    "GET /keys/{}": KeyData;
    "GET /maintenance_windows": MaintenanceWindowSummaryPage;
    "POST /maintenance_windows": MaintenanceWindowData;
    "DELETE /maintenance_windows/{}": DeletedData;
    "GET /maintenance_windows/{}": MaintenanceWindowData;
    "PATCH /maintenance_windows/{}": MaintenanceWindowData;
    "GET /metrics": MetricPage;
    "POST /metrics": TrackedMetricData;
    "POST /metrics/batch": BatchAnswerData;
    "DELETE /metrics/{}": DeletedMetricData;
    "GET /metrics/{}": MetricDetailData;
    "GET /metrics/{}/query": MetricQueryAnswerData;
    "GET /metrics/{}/tags": TagKeyPage;
    "GET /metrics/{}/tags/{}/values": TagValuePage;
    "GET /monitors": MonitorList;
    "POST /monitors": Monitor;
    "DELETE /monitors/{}": DeletedMonitor;
    "GET /monitors/{}": Monitor;
    "PATCH /monitors/{}": Monitor;
    "POST /monitors/{}/check": Monitor;
    "POST /monitors/{}/heartbeat": Monitor;
    "GET /monitors/{}/history": MonitorHistory;
    "POST /monitors/{}/pause": Monitor;
    "POST /monitors/{}/resume": Monitor;
    "GET /monitors/{}/uptime": MonitorUptime;
    "GET /on_call_schedules": OnCallScheduleSummaryPage;
    "POST /on_call_schedules": OnCallScheduleData;
    "DELETE /on_call_schedules/{}": DeletedTargetData;
    "GET /on_call_schedules/{}": OnCallScheduleData;
    "PATCH /on_call_schedules/{}": OnCallScheduleData;
    "DELETE /on_call_schedules/{}/calendar_link": DeletedData;
    "POST /on_call_schedules/{}/calendar_link": OnCallCalendarLinkData;
    "GET /on_call_schedules/{}/current": CurrentOnCall;
    "POST /on_call_schedules/{}/overrides": OnCallOverrideData;
    "DELETE /on_call_schedules/{}/overrides/{}": DeletedData;
    "GET /on_call_schedules/{}/shifts": OnCallShiftListData;
    "GET /openapi.json": get_api_v1_openapi_json_answer;
    "GET /preferences": PreferencesData;
    "PUT /preferences": PreferencesData;
    "GET /query": MetricQueryAnswerListData;
    "GET /queues": QueueList;
    "DELETE /queues/{}": Deleted;
    "GET /queues/{}": QueueDetail;
    "DELETE /queues/{}/jobs": PurgedQueue;
    "GET /queues/{}/metrics": QueueHistory;
    "POST /queues/{}/pause": PausedQueue;
    "POST /queues/{}/resume": ResumedQueue;
    "GET /repositories": RepositoryList;
    "POST /repositories": Repository;
    "DELETE /repositories/{}": Deleted;
    "GET /repositories/{}": Repository;
    "PUT /repositories/{}": Repository;
    "GET /repositories/{}/diagrams": DiagramList;
    "GET /repositories/{}/files": CodeFileList;
    "GET /repositories/{}/files/{}": CodeFileText;
    "GET /repositories/{}/search": CodeSearchResults;
    "POST /repositories/{}/sync": StartedSync;
    "GET /repositories/{}/syncs": SyncList;
    "GET /repositories/{}/syncs/{}": Sync;
    "GET /repositories/{}/wiki": WikiPageList;
    "GET /repositories/{}/wiki/{}": WikiPage;
    "GET /search": SearchResultData;
    "GET /server": ServerDescriptionData;
    "DELETE /session": DeletedData;
    "GET /session": CallerData;
    "POST /session": CallerData;
    "POST /session/codes": SignInCodeData;
    "GET /session/state": SessionStateData;
    "GET /sessions": ConsoleSessionPage;
    "DELETE /sessions/{}": DeletedData;
    "GET /snapshots": SnapshotList;
    "POST /snapshots": Snapshot;
    "DELETE /snapshots/{}": Deleted;
    "GET /snapshots/{}": Snapshot;
    "POST /snapshots/{}/baseline": Baseline;
    "POST /snapshots/{}/compare": NewComparison;
    "GET /status-pages": StatusPageList;
    "POST /status-pages": StatusPage;
    "DELETE /status-pages/{}": Deleted;
    "GET /status-pages/{}": StatusPage;
    "PUT /status-pages/{}": StatusPage;
    "GET /status-pages/{}/incidents": IncidentList;
    "POST /status-pages/{}/incidents": Incident;
    "DELETE /status-pages/{}/incidents/{}": Deleted;
    "GET /status-pages/{}/incidents/{}": Incident;
    "PATCH /status-pages/{}/incidents/{}": Incident;
    "GET /status-pages/{}/maintenance": ScheduledMaintenanceList;
    "POST /status-pages/{}/maintenance": ScheduledMaintenance;
    "DELETE /status-pages/{}/maintenance/{}": Deleted;
    "GET /status-pages/{}/maintenance/{}": ScheduledMaintenance;
    "PATCH /status-pages/{}/maintenance/{}": ScheduledMaintenance;
    "POST /status-pages/{}/monitors": StatusPage;
    "DELETE /status-pages/{}/monitors/{}": StatusPage;
    "GET /status-pages/{}/subscribers": SubscriberList;
    "DELETE /status-pages/{}/subscribers/{}": Deleted;
    "POST /telemetry/batch": TelemetryBatchAnswerData;
    "GET /users": UserPage;
    "GET /workers": WorkerList;
    "POST /workers": RegisteredWorker;
    "POST /workers/quiet-all": QuietedWorkers;
    "GET /workers/stats": WorkerHistory;
    "DELETE /workers/{}": Deleted;
    "GET /workers/{}": WorkerDetail;
    "POST /workers/{}/fetch": FetchedJobs;
    "POST /workers/{}/heartbeat": HeardWorker;
    "POST /workers/{}/quiet": ToldWorker;
    "POST /workers/{}/stop": ToldWorker;
}
export interface Bodies {
    "POST /admin/backup": BackupInput;
    "POST /alert_rules": AlertRuleInput;
    "POST /alert_rules/preview": AlertRulePreviewInput;
    "PATCH /alert_rules/{}": AlertRulePatch;
    "POST /channels": ChannelInput;
    "PATCH /channels/{}": ChannelPatch;
    "POST /chat": QuestionInput;
    "POST /chat/sessions": SessionInput;
    "POST /comparisons/{}/approve": VerdictInput;
    "POST /comparisons/{}/reject": VerdictInput;
    "POST /dashboards": DashboardInput;
    "POST /dashboards/import": DashboardImportInput;
    "POST /dashboards/preview": WidgetPreviewInput;
    "PATCH /dashboards/{}": DashboardPatch;
    "PUT /dashboards/{}": DashboardReplacement;
    "POST /dashboards/{}/duplicate": DashboardCopyInput;
    "PATCH /dashboards/{}/layout": DashboardLayoutInput;
    "POST /dashboards/{}/restore": DashboardRestoreInput;
    "POST /dashboards/{}/widgets": WidgetInput;
    "PATCH /dashboards/{}/widgets/{}": WidgetPatch;
    "DELETE /dead-jobs": DeadJobSelectionInput;
    "POST /dead-jobs/retry": DeadJobSelectionInput;
    "POST /errors": ErrorReportInput;
    "POST /errors/bulk": ErrorBulkInput;
    "POST /errors/{}/assign": ErrorAssignInput;
    "POST /errors/{}/comments": ErrorCommentInput;
    "POST /errors/{}/ignore": ErrorIgnoreInput;
    "POST /errors/{}/merge": ErrorMergeInput;
    "POST /errors/{}/resolve": ErrorResolveInput;
    "POST /errors/{}/unresolve": EmptyInput;
    "POST /escalation_policies": EscalationPolicyInput;
    "PATCH /escalation_policies/{}": EscalationPolicyPatch;
    "POST /events": EventInput;
    "POST /events/batch": EventBatchInput;
    "POST /events/funnel": EventFunnelInput;
    "POST /explain": ExplainInput;
    "POST /generate-docs": DocumentInput;
    "POST /jobs": JobInput;
    "POST /jobs/batch": JobBatchInput;
    "POST /jobs/{}/ack": JobTokenInput;
    "POST /jobs/{}/extend": JobExtendInput;
    "POST /jobs/{}/fail": JobFailInput;
    "POST /keys": KeyInput;
    "POST /maintenance_windows": MaintenanceWindowInput;
    "PATCH /maintenance_windows/{}": MaintenanceWindowPatch;
    "POST /metrics": MetricInput;
    "POST /metrics/batch": MetricBatchInput;
    "POST /monitors": MonitorInput;
    "PATCH /monitors/{}": MonitorPatch;
    "POST /monitors/{}/heartbeat": HeartbeatInput;
    "POST /on_call_schedules": OnCallScheduleInput;
    "PATCH /on_call_schedules/{}": OnCallSchedulePatch;
    "POST /on_call_schedules/{}/overrides": OnCallOverrideInput;
    "PUT /preferences": PreferencesInput;
    "DELETE /queues/{}/jobs": QueuePurgeInput;
    "POST /repositories": RepositoryInput;
    "PUT /repositories/{}": RepositoryPatch;
    "POST /session": SignInInput;
    "POST /session/codes": CodeInput;
    "POST /snapshots": SnapshotInput;
    "POST /snapshots/{}/compare": CompareInput;
    "POST /status-pages": StatusPageInput;
    "PUT /status-pages/{}": StatusPageChange;
    "POST /status-pages/{}/incidents": IncidentInput;
    "PATCH /status-pages/{}/incidents/{}": IncidentPatch;
    "POST /status-pages/{}/maintenance": ScheduledMaintenanceInput;
    "PATCH /status-pages/{}/maintenance/{}": ScheduledMaintenancePatch;
    "POST /status-pages/{}/monitors": StatusPageMonitorInput;
    "POST /telemetry/batch": TelemetryBatchInput;
    "POST /workers": WorkerInput;
    "POST /workers/{}/fetch": JobFetchInput;
    "POST /workers/{}/heartbeat": WorkerVitalsInput;
}
